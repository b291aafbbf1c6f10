//! Drawing: plotters records into a [`Scene`], which is written as SVG (for the page, themable; or
//! on its own) and as PNG (with an embedded font).

pub mod canvas;
pub mod font;
pub mod ink;
pub mod legend;
pub mod plot;
pub mod png;
pub mod scene;
pub mod svg;
pub mod ticks;

pub use canvas::{Anchor, Canvas, SMALL};
pub use ink::{Dash, Ink, Pen};
pub use legend::{Entry, Key};
pub use plot::{Axis, Mark, Plot};
pub use scene::{Scene, Scenes};
