//! Enums whose values have one name in JSON, tables and pages.

/// An enum with `name()`, `Display`, and that name in JSON and its schema.
macro_rules! named {
    ($(#[$about:meta])* pub enum $Name:ident { $($(#[$what:meta])* $Variant:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
            schemars::JsonSchema,
        )]
        #[non_exhaustive]
        pub enum $Name { $($(#[$what])* #[serde(rename = $name)] $Variant,)* }

        impl $Name {
            /// The name in JSON, tables and pages.
            #[must_use]
            pub fn name(self) -> &'static str {
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
