//! Token texts from a `tokenizer.json` of Hugging Face.
//!
//! Only the vocabulary is read: loading it as a tokenizer would take longer than the analysis.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::tokenizer_json::TokenizerJson;
use crate::Run;
use stapo_base::error::{Error, Result};
use stapo_store::is_url;

/// The largest id that is believed.
const LARGEST_ID: u64 = 1 << 22;

/// How the pieces of a vocabulary spell bytes and spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    /// As they are.
    Plain,
    /// Every byte is a printable character (GPT-2).
    Bytes,
    /// `▁` is a space and `<0x0A>` a byte (SentencePiece).
    Metaspace,
}

/// Texts of token ids.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    path: PathBuf,
    texts: Vec<Option<String>>,
    spelling: Spelling,
}

impl Tokenizer {
    /// The given tokenizer, else the one that the log's metadata names, where it exists.
    pub fn find(run: &Run, given: Option<&Path>) -> Result<Option<Self>> {
        if let Some(path) = given.filter(|path| is_url(path)) {
            return Err(Error::Usage {
                message: format!("{}: a tokenizer is read from the disk only", path.display()),
                hint: "download tokenizer.json and give its path".into(),
            });
        }
        if let Some(path) = given {
            let path = if path.is_dir() { path.join("tokenizer.json") } else { path.to_owned() };
            return Self::read(&path).map(Some);
        }
        let Some(named) = run.metadata.get("tokenizer") else { return Ok(None) };
        // A log may come from anyone: it can only name what lies beside it.
        let inside = |c: Component<'_>| matches!(c, Component::Normal(_) | Component::CurDir);
        if !Path::new(named).components().all(inside) {
            return Ok(None);
        }
        // Nothing is fetched because a log says so: beside one in a bucket, nothing is looked for.
        let folders = run.files.iter().filter_map(|f| f.context.path.parent()).filter(|f| !is_url(f));
        for path in
            folders.flat_map(|folder| beside(folder, Path::new(named))).map(|folder| folder.join(named))
        {
            let path = if path.is_dir() { path.join("tokenizer.json") } else { path };
            match path.is_file().then(|| Self::read(&path)) {
                Some(Ok(tokenizer)) => return Ok(Some(tokenizer)),
                Some(Err(error @ Error::TooLarge { .. })) => return Err(error),
                Some(Err(_)) | None => {}
            }
        }
        Ok(None)
    }

    /// Reads a `tokenizer.json`.
    pub fn read(path: &Path) -> Result<Self> {
        let json = TokenizerJson::read(path)?;
        let spelling = spelling(&json);
        Ok(Self { path: path.to_owned(), texts: texts(json, spelling), spelling })
    }

    /// One more than the largest id.
    pub fn size(&self) -> u32 {
        u32::try_from(self.texts.len()).unwrap_or(u32::MAX)
    }

    /// The text of an id.
    pub fn text(&self, id: i32) -> Option<&str> {
        self.texts.get(usize::try_from(id).ok()?)?.as_deref()
    }

    /// Whether the texts are words without any sign of the spaces between them.
    pub fn is_plain(&self) -> bool {
        self.spelling == Spelling::Plain
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn texts(json: TokenizerJson, spelling: Spelling) -> Vec<Option<String>> {
    let alphabet = byte_alphabet();
    let mut texts: Vec<Option<String>> = Vec::new();
    let mut set = |id: u64, text: String| {
        if id <= LARGEST_ID {
            let index = id as usize;
            if texts.len() <= index {
                texts.resize(index + 1, None);
            }
            texts[index] = Some(text);
        }
    };
    for (id, piece) in json.model.vocab.0 {
        set(id, spelled(&piece, spelling, &alphabet));
    }
    for added in json.added_tokens.into_iter().flatten() {
        set(added.id, added.content);
    }
    texts
}

fn spelling(json: &TokenizerJson) -> Spelling {
    let (decoder, before) = (json.decoder, json.pre_tokenizer);
    if decoder.byte_level || before.byte_level {
        Spelling::Bytes
    } else if decoder.metaspace || before.metaspace || decoder.underline {
        Spelling::Metaspace
    } else {
        Spelling::Plain
    }
}

fn spelled(piece: &str, spelling: Spelling, alphabet: &HashMap<char, u8>) -> String {
    match spelling {
        Spelling::Plain => piece.to_owned(),
        Spelling::Metaspace => match byte_piece(piece) {
            Some(byte) => readable(&[byte]),
            None => piece.replace('▁', " "),
        },
        Spelling::Bytes => {
            let bytes: Option<Vec<u8>> = piece.chars().map(|c| alphabet.get(&c).copied()).collect();
            bytes.map_or_else(|| piece.to_owned(), |bytes| readable(&bytes))
        }
    }
}

/// UTF-8 as it is; bytes that are only a part of a character as `<0xE2>`.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("<0x{byte:02X}>"));
        }
    }
    text
}

fn byte_piece(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    u8::from_str_radix(digits, 16).ok()
}

/// GPT-2's characters for bytes: printable Latin-1 stands for itself, the rest is moved up by 256.
pub(crate) fn byte_alphabet() -> HashMap<char, u8> {
    let stands_for_itself = |b: u8| matches!(b, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut moved = 0;
    let mut alphabet = HashMap::new();
    for byte in 0..=u8::MAX {
        if stands_for_itself(byte) {
            alphabet.insert(char::from(byte), byte);
        } else {
            alphabet.extend(char::from_u32(256 + moved).map(|c| (c, byte)));
            moved += 1;
        }
    }
    alphabet
}

/// Where a file's tokenizer may lie: beside it, or beside its folder, where that is `step_N`, whose siblings share
/// one, or where a folder is named, too (`model/tokenizer.json`): a bare name may be of another model there.
fn beside<'a>(folder: &'a Path, named: &Path) -> impl Iterator<Item = &'a Path> {
    let of_a_step = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("step"));
    let shared = of_a_step || named.components().count() > 1;
    [Some(folder), folder.parent().filter(|_| shared)].into_iter().flatten()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(json: Value) -> Tokenizer {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), json.to_string()).unwrap();
        Tokenizer::read(file.path()).unwrap()
    }

    #[test]
    fn bytes_are_shown_readable() {
        let tokenizer = read(json!({
            "added_tokens": [{"id": 5, "content": "<|im_end|>"}],
            "decoder": {"type": "ByteLevel"},
            "model": {"type": "BPE", "vocab": {"Ġthe": 0, "Ċ": 1, "âĤ¬": 2, "âĤ": 3, "你好": 4}}
        }));
        let texts: Vec<_> = (0..6).map(|id| tokenizer.text(id).unwrap().to_owned()).collect();
        assert_eq!(texts, [" the", "\n", "€", "<0xE2><0x82>", "你好", "<|im_end|>"]);
        assert_eq!((tokenizer.size(), tokenizer.text(6), tokenizer.text(-1)), (6, None, None));
    }

    #[test]
    fn sentencepiece_and_words() {
        let tokenizer = read(json!({
            "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}]},
            "model": {"type": "Unigram", "vocab": [["<unk>", 0.0], ["▁a", -1.0], ["<0x0A>", -2.0]]}
        }));
        assert_eq!((tokenizer.text(1), tokenizer.text(2)), (Some(" a"), Some("\n")));
        let words = read(json!({"model": {"type": "WordLevel", "vocab": {"▁a": 0, "Ġb": 1}}}));
        assert_eq!((words.text(0), words.text(1)), (Some("▁a"), Some("Ġb")));
    }

    #[test]
    fn steps_of_a_log_share_the_tokenizer_beside_them() {
        let found = |folder, named| beside(Path::new(folder), Path::new(named)).collect::<Vec<_>>();
        let bare = |folder| found(folder, "tokenizer.json");
        assert_eq!(bare("log/step_00000010"), [Path::new("log/step_00000010"), Path::new("log")]);
        assert_eq!(bare("log/other").len(), 1);
        assert_eq!(bare("step_1"), [Path::new("step_1"), Path::new("")]);
        assert_eq!(found("runs/ward", "model/tokenizer.json"), [Path::new("runs/ward"), Path::new("runs")]);
    }

    #[test]
    fn hostile_files_are_refused_or_bounded() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "{\"model\": 3}").unwrap();
        assert!(Tokenizer::read(file.path()).is_err());
        let huge = read(json!({"model": {"vocab": {"a": u64::MAX, "b": 1}}}));
        assert_eq!(huge.size(), 2);
    }
}
