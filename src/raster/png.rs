//! Images to PNG files.

use super::Image;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Why a picture could not be written.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The picture is empty or too large for the format.
    #[error("cannot write a picture of {width_px} x {height_px} pixels; choose a size between 1 and 65 535")]
    Size {
        /// Width in pixels.
        width_px: usize,
        /// Height in pixels.
        height_px: usize,
    },
    /// The encoder failed.
    #[error("cannot encode the picture: {0}")]
    Encode(#[from] png::EncodingError),
    /// Something else is there: an export, perhaps, that a slip of the hand would destroy.
    #[error("{path} exists and is no PNG picture, so it is not replaced; choose another name", path = path.display())]
    NotAPicture {
        /// The file that was left as it is.
        path: PathBuf,
    },
    /// The file could not be written.
    #[error("cannot write {path}: {source}; choose another folder or free some space", path = path.display())]
    Write {
        /// Where it should have gone.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The image as the bytes of a PNG file. Pixels are taken as opaque.
///
/// # Errors
/// When the size is not one a PNG file can have.
pub fn encode(image: &Image) -> Result<Vec<u8>, PngError> {
    let size = |px: usize| u32::try_from(px).ok().filter(|px| (1..=65_535).contains(px));
    let (Some(width), Some(height)) = (size(image.width_px), size(image.height_px)) else {
        return Err(PngError::Size { width_px: image.width_px, height_px: image.height_px });
    };
    let rgb: Vec<u8> = image.pixels.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb)?;
    writer.finish()?;
    Ok(bytes)
}

/// First bytes of every PNG file.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Checks that a picture may be written to `path`: nothing is there, or a picture, or an empty file.
///
/// # Errors
/// When something else is there.
pub fn check_target(path: &Path) -> Result<(), PngError> {
    let Ok(file) = std::fs::File::open(path) else { return Ok(()) };
    let is_file = file.metadata().is_ok_and(|facts| facts.is_file());
    let mut start = Vec::new();
    let is_read = is_file && file.take(SIGNATURE.len() as u64).read_to_end(&mut start).is_ok();
    if is_read && (start.is_empty() || start == SIGNATURE) {
        return Ok(());
    }
    Err(PngError::NotAPicture { path: path.to_owned() })
}

/// Writes the image as a PNG file. Replaces a picture, and nothing else.
///
/// # Errors
/// When it cannot be encoded, something that is no picture is there, or the file cannot be written.
pub fn write(image: &Image, path: &Path) -> Result<(), PngError> {
    let bytes = encode(image)?;
    check_target(path)?;
    std::fs::write(path, bytes).map_err(|source| PngError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_replaces_a_picture_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let image = Image { width_px: 2, height_px: 1, pixels: vec![[1, 2, 3, 255], [4, 5, 6, 255]] };
        let new = folder.path().join("new.png");
        write(&image, &new).unwrap();
        write(&image, &new).unwrap();
        let export = folder.path().join("rank0.sqlite");
        std::fs::write(&export, "SQLite format 3").unwrap();
        let refused = write(&image, &export).unwrap_err();
        assert!(matches!(refused, PngError::NotAPicture { .. }), "{refused}");
        assert_eq!(std::fs::read_to_string(&export).unwrap(), "SQLite format 3");
        assert!(matches!(write(&image, folder.path()).unwrap_err(), PngError::NotAPicture { .. }));
    }
}
