//! What Parquet's definition asks of its headers: the fields that each structure must have, and what
//! every field is. The decoder is content with less and puts a zero where something is missing; other
//! readers refuse such a file, and so does this one.

use parquet::errors::{ParquetError, Result};

use super::thrift::{Compact, kind};

/// A structure of the format.
pub struct Definition {
    name: &'static str,
    fields: &'static [Field],
}

/// A field of a structure.
struct Field {
    id: i16,
    name: &'static str,
    required: bool,
    value: Value,
}

/// What a field holds.
enum Value {
    Flag,
    Byte,
    Short,
    Int,
    Long,
    Bytes,
    Structure(&'static Definition),
    List(&'static Value),
}

const fn must(id: i16, name: &'static str, value: Value) -> Field {
    Field { id, name, required: true, value }
}

const fn may(id: i16, name: &'static str, value: Value) -> Field {
    Field { id, name, required: false, value }
}

use Value::{Byte, Bytes, Flag, Int, List, Long, Short, Structure};

/// The footer of a file.
pub static FILE: Definition = Definition {
    name: "FileMetaData",
    fields: &[
        must(1, "version", Int),
        must(2, "schema", List(&Structure(&SCHEMA_ELEMENT))),
        must(3, "num_rows", Long),
        must(4, "row_groups", List(&Structure(&ROW_GROUP))),
        may(5, "key_value_metadata", List(&Structure(&KEY_VALUE))),
        may(6, "created_by", Bytes),
    ],
};

static SCHEMA_ELEMENT: Definition = Definition {
    name: "SchemaElement",
    fields: &[
        may(1, "type", Int),
        may(2, "type_length", Int),
        may(3, "repetition_type", Int),
        must(4, "name", Bytes),
        may(5, "num_children", Int),
        may(6, "converted_type", Int),
        may(7, "scale", Int),
        may(8, "precision", Int),
        may(9, "field_id", Int),
        may(10, "logicalType", Structure(&LOGICAL_TYPE)),
    ],
};

static LOGICAL_TYPE: Definition = Definition {
    name: "LogicalType",
    fields: &[
        may(5, "DECIMAL", Structure(&DECIMAL)),
        may(7, "TIME", Structure(&TIME)),
        may(8, "TIMESTAMP", Structure(&TIME)),
        may(10, "INTEGER", Structure(&INTEGER)),
    ],
};

static DECIMAL: Definition =
    Definition { name: "DecimalType", fields: &[must(1, "scale", Int), must(2, "precision", Int)] };

static TIME: Definition = Definition {
    name: "TimeType",
    fields: &[must(1, "isAdjustedToUTC", Flag), must(2, "unit", Structure(&TIME_UNIT))],
};

static TIME_UNIT: Definition = Definition { name: "TimeUnit", fields: &[] };

static INTEGER: Definition =
    Definition { name: "IntType", fields: &[must(1, "bitWidth", Byte), must(2, "isSigned", Flag)] };

static KEY_VALUE: Definition =
    Definition { name: "KeyValue", fields: &[must(1, "key", Bytes), may(2, "value", Bytes)] };

static ROW_GROUP: Definition = Definition {
    name: "RowGroup",
    fields: &[
        must(1, "columns", List(&Structure(&COLUMN_CHUNK))),
        must(2, "total_byte_size", Long),
        must(3, "num_rows", Long),
        may(4, "sorting_columns", List(&Structure(&SORTING_COLUMN))),
        may(5, "file_offset", Long),
        may(6, "total_compressed_size", Long),
        may(7, "ordinal", Short),
    ],
};

static SORTING_COLUMN: Definition = Definition {
    name: "SortingColumn",
    fields: &[must(1, "column_idx", Int), must(2, "descending", Flag), must(3, "nulls_first", Flag)],
};

static COLUMN_CHUNK: Definition = Definition {
    name: "ColumnChunk",
    fields: &[
        may(1, "file_path", Bytes),
        must(2, "file_offset", Long),
        // Left out where it is encrypted, which cannot be read in any case.
        must(3, "meta_data", Structure(&COLUMN)),
        may(4, "offset_index_offset", Long),
        may(5, "offset_index_length", Int),
        may(6, "column_index_offset", Long),
        may(7, "column_index_length", Int),
    ],
};

static COLUMN: Definition = Definition {
    name: "ColumnMetaData",
    fields: &[
        must(1, "type", Int),
        must(2, "encodings", List(&Int)),
        must(3, "path_in_schema", List(&Bytes)),
        must(4, "codec", Int),
        must(5, "num_values", Long),
        must(6, "total_uncompressed_size", Long),
        must(7, "total_compressed_size", Long),
        may(8, "key_value_metadata", List(&Structure(&KEY_VALUE))),
        must(9, "data_page_offset", Long),
        may(10, "index_page_offset", Long),
        may(11, "dictionary_page_offset", Long),
        may(12, "statistics", Structure(&STATISTICS)),
        may(13, "encoding_stats", List(&Structure(&PAGE_ENCODING_STATS))),
        may(14, "bloom_filter_offset", Long),
        may(15, "bloom_filter_length", Int),
        may(16, "size_statistics", Structure(&SIZE_STATISTICS)),
    ],
};

static SIZE_STATISTICS: Definition = Definition {
    name: "SizeStatistics",
    fields: &[
        may(1, "unencoded_byte_array_data_bytes", Long),
        may(2, "repetition_level_histogram", List(&Long)),
        may(3, "definition_level_histogram", List(&Long)),
    ],
};

static PAGE_ENCODING_STATS: Definition = Definition {
    name: "PageEncodingStats",
    fields: &[must(1, "page_type", Int), must(2, "encoding", Int), must(3, "count", Int)],
};

static STATISTICS: Definition = Definition {
    name: "Statistics",
    fields: &[
        may(1, "max", Bytes),
        may(2, "min", Bytes),
        may(3, "null_count", Long),
        may(4, "distinct_count", Long),
        may(5, "max_value", Bytes),
        may(6, "min_value", Bytes),
        may(7, "is_max_value_exact", Flag),
        may(8, "is_min_value_exact", Flag),
    ],
};

/// The header of a page.
pub static PAGE: Definition = Definition {
    name: "PageHeader",
    fields: &[
        must(1, "type", Int),
        must(2, "uncompressed_page_size", Int),
        must(3, "compressed_page_size", Int),
        may(4, "crc", Int),
        may(5, "data_page_header", Structure(&DATA_PAGE)),
        may(7, "dictionary_page_header", Structure(&DICTIONARY_PAGE)),
        may(8, "data_page_header_v2", Structure(&DATA_PAGE_2)),
    ],
};

static DATA_PAGE: Definition = Definition {
    name: "DataPageHeader",
    fields: &[
        must(1, "num_values", Int),
        must(2, "encoding", Int),
        must(3, "definition_level_encoding", Int),
        must(4, "repetition_level_encoding", Int),
        may(5, "statistics", Structure(&STATISTICS)),
    ],
};

static DICTIONARY_PAGE: Definition = Definition {
    name: "DictionaryPageHeader",
    fields: &[must(1, "num_values", Int), must(2, "encoding", Int), may(3, "is_sorted", Flag)],
};

static DATA_PAGE_2: Definition = Definition {
    name: "DataPageHeaderV2",
    fields: &[
        must(1, "num_values", Int),
        must(2, "num_nulls", Int),
        must(3, "num_rows", Int),
        must(4, "encoding", Int),
        must(5, "definition_levels_byte_length", Int),
        must(6, "repetition_levels_byte_length", Int),
        may(7, "is_compressed", Flag),
        may(8, "statistics", Structure(&STATISTICS)),
    ],
};

impl Definition {
    /// Reads a structure; an error where it is not what it should be. Fields that are not known are
    /// of a later version, and passed over.
    pub fn check(&self, compact: &mut Compact<'_>) -> Result<()> {
        let mut seen = 0_u32;
        compact.structure(&mut |compact, field| {
            let Some(known) = self.fields.iter().find(|known| known.id == field.id) else {
                return Ok(false);
            };
            if seen & known.bit() != 0 {
                return Err(self.is_not("has", known, "twice"));
            }
            seen |= known.bit();
            match known.value.read(compact, field.kind)? {
                true => Ok(true),
                false => Err(self.is_not("has", known, "of another kind than Parquet defines")),
            }
        })?;
        match self.fields.iter().find(|field| field.required && seen & field.bit() == 0) {
            Some(missing) => Err(self.is_not("lacks", missing, "which Parquet requires")),
            None => Ok(()),
        }
    }

    fn is_not(&self, verb: &str, field: &Field, what: &str) -> ParquetError {
        ParquetError::General(format!(
            "a header cannot be right: {} {verb} {}, {what}",
            self.name, field.name
        ))
    }
}

impl Field {
    fn bit(&self) -> u32 {
        1 << self.id
    }
}

impl Value {
    fn is_kind(&self, found: u8) -> bool {
        match self {
            Flag => found == kind::TRUE || found == kind::FALSE,
            Byte => found == kind::BYTE,
            Short => found == kind::SHORT,
            Int => found == kind::INT,
            Long => found == kind::LONG,
            Bytes => found == kind::BYTES,
            Structure(_) => found == kind::STRUCT,
            List(_) => found == kind::LIST,
        }
    }

    /// Reads a value; false where it is of another kind, or too large for its own.
    fn read(&self, compact: &mut Compact<'_>, found: u8) -> Result<bool> {
        if !self.is_kind(found) {
            return Ok(false);
        }
        match self {
            Short => Ok(i16::try_from(compact.int()?).is_ok()),
            Int => Ok(i32::try_from(compact.int()?).is_ok()),
            Flag | Byte | Long | Bytes => compact.skip(found).map(|()| true),
            Structure(definition) => definition.check(compact).map(|()| true),
            List(entry) => {
                let (found, length) = compact.list()?;
                for _ in 0..length {
                    if !entry.read(compact, found)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn page(bytes: &[u8]) -> std::result::Result<(), String> {
        PAGE.check(&mut Compact::new(bytes)).map_err(|e| e.to_string())
    }

    #[test]
    fn a_header_has_what_its_definition_requires_and_nothing_else_in_its_place() {
        // type, both sizes, and a DataPageHeader of four numbers.
        let whole = [0x15, 0, 0x15, 8, 0x15, 8, 0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0];
        assert_eq!(page(&whole), Ok(()));
        let says = |bytes: &[u8], expected: &str| {
            let message = page(bytes).unwrap_err();
            assert!(message.contains(expected), "{message}");
        };
        // The first size is passed over.
        says(
            &[0x15, 0, 0x25, 8, 0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0],
            "lacks uncompressed_page_size",
        );
        // The page's own header ends after three of four.
        says(
            &[0x15, 0, 0x15, 8, 0x15, 8, 0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0, 0],
            "DataPageHeader lacks repetition",
        );
        // An i64 in place of an i32, a number beyond 32 bits, a field twice.
        let kind = [&whole[..4], &[0x16], &whole[5..]].concat();
        says(&kind, "has compressed_page_size, of another kind");
        says(&[0x15, 0x80, 0x80, 0x80, 0x80, 0x20, 0], "has type, of another kind");
        says(&[0x15, 0, 0x05, 2, 0, 0], "has type, twice");
        // A field of a later version is none of ours.
        let later = [&whole[..16], &[0xfc, 0, 0]].concat();
        assert_eq!(page(&later), Ok(()));
    }
}
