//! How what serde does not know by itself is written: shared texts, and maps in the order of their keys.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An `Arc<str>`.
pub mod text {
    use super::*;

    /// Writes it.
    pub fn serialize<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text)
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
        Ok(String::deserialize(from)?.into())
    }
}

/// An `Option<Arc<str>>`.
pub mod shared_text {
    use super::*;

    /// Writes it.
    pub fn serialize<S: Serializer>(text: &Option<Arc<str>>, to: S) -> Result<S::Ok, S::Error> {
        text.as_deref().serialize(to)
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<str>>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Into::into))
    }
}

/// A `BTreeMap` by `Arc<str>`.
pub mod by_text {
    use super::*;

    /// Writes it.
    pub fn serialize<S: Serializer, V: Serialize>(
        map: &BTreeMap<Arc<str>, V>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(map.iter().map(|(key, value)| (&**key, value)))
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
        from: D,
    ) -> Result<BTreeMap<Arc<str>, V>, D::Error> {
        let map = BTreeMap::<String, V>::deserialize(from)?;
        Ok(map.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

/// A `HashMap`, in the order of its keys.
pub mod sorted {
    use super::*;

    /// Writes it.
    pub fn serialize<S: Serializer, K: Serialize + Ord, V: Serialize, H>(
        map: &HashMap<K, V, H>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let mut entries: Vec<(&K, &V)> = map.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        to.collect_seq(entries)
    }

    /// Reads it.
    pub fn deserialize<'de, D, K, V, H>(from: D) -> Result<HashMap<K, V, H>, D::Error>
    where
        D: Deserializer<'de>,
        K: Deserialize<'de> + Eq + Hash,
        V: Deserialize<'de>,
        H: BuildHasher + Default,
    {
        Ok(Vec::<(K, V)>::deserialize(from)?.into_iter().collect())
    }
}
