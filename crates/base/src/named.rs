//! Enums whose values have one name in JSON, tables and pages.

/// An enum with `ALL`, `name()`, `Display`, and that name in JSON and its schema.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* pub enum $Name:ident { $($(#[$what:meta])* $Variant:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
            schemars::JsonSchema,
        )]
        pub enum $Name { $($(#[$what])* #[serde(rename = $name)] $Variant,)* }

        impl $Name {
            /// All, in the order of their declaration.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$Variant),*];

            /// The name in JSON, tables and pages.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name,)* }
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    named! {
        /// What stands at a cross-roads.
        pub enum Way {
            /// To the left.
            Left = "left_way",
            /// To the right.
            Right = "right",
        }
    }

    #[test]
    fn the_name_is_the_same_everywhere() {
        assert_eq!(Way::ALL, [Way::Left, Way::Right]);
        let schema = serde_json::to_string(&schemars::schema_for!(Way)).unwrap();
        for way in Way::ALL {
            assert_eq!(serde_json::to_string(&way).unwrap(), format!("\"{}\"", way.name()));
            assert_eq!(way.to_string(), way.name());
            assert!(schema.contains(&format!("\"{}\"", way.name())), "{schema}");
        }
    }
}
