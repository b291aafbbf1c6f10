//! One safetensors file: checked as a whole before a tensor of it is read.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use stapo_base::error::{Error, Result};
use stapo_base::output::AtomicFile;

/// Headers of real checkpoints are a few hundred kilobytes.
const LARGEST_HEADER: u64 = 64 << 20;

/// An open safetensors file.
pub struct TensorFile {
    path: PathBuf,
    file: File,
    data_start: u64,
    header: Metadata,
}

impl TensorFile {
    /// Opens a file and checks that its header describes exactly its bytes.
    pub fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(|e| Error::read(path, e))?;
        let size = file.metadata().map_err(|e| Error::read(path, e))?.len();
        let broken =
            |message: String| Error::Corrupt { path: path.to_owned(), place: "header".into(), message };
        let mut prefix = [0u8; 8];
        file.read_exact(&mut prefix).map_err(|_| broken("too short for a safetensors file".into()))?;
        let length = u64::from_le_bytes(prefix);
        if length > LARGEST_HEADER || length.saturating_add(8) > size {
            return Err(broken(format!("claims {length} bytes of a file of {size}")));
        }
        let mut text = vec![0u8; length as usize];
        file.read_exact(&mut text).map_err(|e| Error::read(path, e))?;
        let header: Metadata = serde_json::from_slice(&text).map_err(|e| broken(e.to_string()))?;
        if header.data_len() as u64 != size - 8 - length {
            return Err(broken(format!(
                "describes {} bytes of tensors, the file has {}",
                header.data_len(),
                size - 8 - length
            )));
        }
        Ok(Self { path: path.to_owned(), file, data_start: 8 + length, header })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of its tensors.
    pub fn names(&self) -> Vec<String> {
        self.header.offset_keys()
    }

    /// Text stored beside the tensors.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.header.metadata().as_ref()?.get(key).map(String::as_str)
    }

    /// Appends the numbers of a tensor of the expected shape.
    pub fn read_into(&mut self, name: &str, shape: &[usize], into: &mut Vec<f32>) -> Result<()> {
        let bad =
            |message: String| Error::ModelTensor { path: self.path.clone(), tensor: name.into(), message };
        let info = self.header.info(name).ok_or_else(|| bad("missing".into()))?;
        if info.shape != shape {
            return Err(bad(format!("has shape {:?}, the configuration needs {shape:?}", info.shape)));
        }
        let (dtype, (start, end)) = (info.dtype, info.data_offsets);
        let width = match dtype {
            Dtype::F32 => 4,
            Dtype::F16 | Dtype::BF16 => 2,
            other => return Err(bad(format!("is {other:?}; F32, F16 and BF16 are read"))),
        };
        self.file
            .seek(SeekFrom::Start(self.data_start + start as u64))
            .map_err(|e| Error::read(&self.path, e))?;
        into.reserve((end - start) / width);
        let mut left = end - start;
        let mut buffer = vec![0u8; left.min(1 << 20)];
        while left > 0 {
            let part = &mut buffer[..left.min(1 << 20)];
            self.file.read_exact(part).map_err(|e| Error::read(&self.path, e))?;
            match dtype {
                Dtype::F32 => into.extend(part.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b))),
                Dtype::F16 => {
                    into.extend(part.as_chunks::<2>().0.iter().map(|b| f16::from_le_bytes(*b).to_f32()))
                }
                _ => into.extend(part.as_chunks::<2>().0.iter().map(|b| bf16::from_le_bytes(*b).to_f32())),
            }
            left -= part.len();
        }
        Ok(())
    }
}

/// A tensor to write: name, shape, and its numbers.
pub type NamedTensor<'a> = (String, Vec<usize>, &'a [f32]);

/// Writes a float32 safetensors file under its name only when it is complete.
pub fn write_tensors(path: &Path, text: HashMap<String, String>, tensors: &[NamedTensor<'_>]) -> Result<()> {
    let mut end = 0;
    let infos = tensors.iter().map(|(name, shape, values)| {
        let start = end;
        end += values.len() * 4;
        (name.clone(), TensorInfo { dtype: Dtype::F32, shape: shape.clone(), data_offsets: (start, end) })
    });
    let header = Metadata::new(Some(text), infos.collect()).map_err(|e| Error::write(path, e))?;
    let mut header = serde_json::to_vec(&header).map_err(|e| Error::write(path, e))?;
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut file = AtomicFile::create(path)?;
    let mut put = |bytes: &[u8]| file.write_all(bytes).map_err(|e| Error::write(path, e));
    put(&(header.len() as u64).to_le_bytes())?;
    put(&header)?;
    let mut buffer = Vec::with_capacity(1 << 16);
    for (_, _, values) in tensors {
        for part in values.chunks(1 << 14) {
            buffer.clear();
            buffer.extend(part.iter().flat_map(|v| v.to_le_bytes()));
            put(&buffer)?;
        }
    }
    file.commit()
}
