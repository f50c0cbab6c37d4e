//! Images to PNG files.

use super::Image;
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

/// Writes the image as a PNG file.
///
/// # Errors
/// When it cannot be encoded or the file cannot be written.
pub fn write(image: &Image, path: &Path) -> Result<(), PngError> {
    let bytes = encode(image)?;
    std::fs::write(path, bytes).map_err(|source| PngError::Write { path: path.to_owned(), source })
}
