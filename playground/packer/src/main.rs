//! Packs the playground into one page, which needs no server: a browser opens it as a file.
//!
//! `packer MODULE.wasm TEMPLATE.html OUT.html` fills the marks of the template: `{{PATH}}` is a
//! file, by its path from the template; `{{text PATH}}` the same as a literal of JavaScript;
//! `{{wasm}}` the module, as base64 of gzip; `{{glue}}` what wasm-bindgen writes for it.

use std::{
    error::Error,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [module, template, out] = arguments.as_slice() else {
        return Err("usage: packer MODULE.wasm TEMPLATE.html OUT.html".into());
    };
    let packer = Packer::new(module, template.parent().unwrap_or(Path::new(".")))?;
    let page = packer.fill(&fs::read_to_string(template)?)?;
    if let Some(folder) = out.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(out, page)?;
    Ok(())
}

struct Packer {
    folder: PathBuf,
    wasm: String,
    glue: String,
}

impl Packer {
    fn new(module: &Path, folder: &Path) -> Result<Packer, Box<dyn Error>> {
        let mut output = Bindgen::new()
            .input_path(module)
            .no_modules(true)?
            .typescript(false)
            .remove_name_section(true)
            .generate_output()?;
        let glue = output.js().to_owned();
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&output.wasm_mut().emit_wasm())?;
        Ok(Packer { folder: folder.to_owned(), wasm: base64(&packed.finish()?), glue })
    }

    /// A text with its marks filled; the files that are named there have marks, too.
    fn fill(&self, text: &str) -> Result<String, Box<dyn Error>> {
        let mut filled = String::new();
        for (place, piece) in text.split("{{").enumerate() {
            if place == 0 {
                filled.push_str(piece);
                continue;
            }
            let (mark, rest) = piece.split_once("}}").ok_or_else(|| format!("`{{{{{piece}` has no end"))?;
            let inserted = match (mark, mark.strip_prefix("text ")) {
                ("wasm", _) => self.wasm.clone(),
                ("glue", _) => self.glue.clone(),
                (_, Some(path)) => literal(&self.read(path)?),
                (path, None) => self.fill(&self.read(path)?)?,
            };
            filled.push_str(&inserted);
            filled.push_str(rest);
        }
        Ok(filled)
    }

    fn read(&self, path: &str) -> Result<String, Box<dyn Error>> {
        let text = fs::read_to_string(self.folder.join(path)).map_err(|it| format!("{path}: {it}"))?;
        // A script would end there.
        if path.ends_with(".js") && text.contains("</script") {
            return Err(format!("{path}: expected no `</script` in a script").into());
        }
        Ok(text)
    }
}

/// A literal of JavaScript that may stand in a page.
fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => literal.extend(['\\', letter]),
            '\n' => literal.push_str("\\n"),
            '<' | '\0'..='\x1f' | '\u{2028}' | '\u{2029}' => {
                literal.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            _ => literal.push(letter),
        }
    }
    literal.push('"');
    literal
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0, |word, &it| word << 8 | usize::from(it)) << (8 * (3 - three.len()));
        for digit in 0..4 {
            let value = word >> (18 - 6 * digit) & 63;
            text.push(if three.len() < digit { '=' } else { char::from(DIGITS[value]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_padded() {
        for (bytes, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }

    #[test]
    fn a_literal_ends_no_script() {
        assert_eq!(literal("a\"\\\n</script>\u{2028}é"), r#""a\"\\\n\u003c/script>\u2028é""#);
    }
}
