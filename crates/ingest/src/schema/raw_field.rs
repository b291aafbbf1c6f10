//! The columns of a log as its files have them: names, and shapes of their values.

/// The kind of the values of a raw column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// Whole numbers.
    Int,
    /// Numbers with a fraction.
    Float,
    /// True or false.
    Bool,
    /// Texts.
    Text,
    /// Bytes that are not marked as texts.
    Binary,
    /// Dates and times.
    Date,
    /// Anything else, or only nulls so far.
    Other,
}

/// How the values of a raw column nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One value a row.
    Scalar(Primitive),
    /// A list a row; lists of structs are lists of [`Primitive::Other`].
    List(Primitive),
    /// A list of lists a row.
    ListOfLists(Primitive),
    /// Named values a row.
    Struct,
}

impl Shape {
    /// Whether the column is a list (of lists) of anything.
    pub const fn is_list(self) -> bool {
        matches!(self, Self::List(_) | Self::ListOfLists(_))
    }

    /// In words, for messages.
    pub fn describe(self) -> String {
        let name = |p| format!("{p:?}").to_lowercase();
        match self {
            Self::Scalar(p) => format!("one {} a row", name(p)),
            Self::List(p) => format!("a list of {} a row", name(p)),
            Self::ListOfLists(p) => format!("a list of lists of {} a row", name(p)),
            Self::Struct => "a struct".into(),
        }
    }
}

/// A column as the file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawField {
    /// Its name in the file.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
}

impl RawField {
    /// A column of this name and shape.
    pub fn new(name: impl Into<String>, shape: Shape) -> Self {
        Self { name: name.into(), shape }
    }
}
