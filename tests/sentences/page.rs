//! The words of a page: its paragraphs, lists, captions and headings, and the texts of its charts.

/// Elements whose content is data, drawing or program.
const LEFT_OUT: [&str; 7] = ["script", "style", "svg", "template", "table", "pre", "code"];
/// Sections that show the log itself.
const DATA: [&str; 3] = ["id=\"cases\"", "id=\"drill\"", "id=\"responses\""];
/// Elements that say something.
const SAY: [&str; 7] = ["p", "li", "figcaption", "dd", "dt", "h1", "summary"];

/// The page without all elements of a kind; `code` leaves a mark, since it stands within sentences.
fn without(page: &str, element: &str) -> String {
    let (open, close) = (format!("<{element}"), format!("</{element}>"));
    let mut kept = String::new();
    let mut rest = page;
    while let Some(at) = rest.find(&open) {
        let after = &rest[at + open.len()..];
        if !after.starts_with([' ', '>']) {
            kept.push_str(&rest[..at + open.len()]);
            rest = after;
            continue;
        }
        kept.push_str(&rest[..at]);
        kept.push_str(if element == "code" { "…" } else { "" });
        rest = after.find(&close).map_or("", |end| &after[end + close.len()..]);
    }
    kept + rest
}

/// Text without tags and entities, its spaces single.
pub fn plain(markup: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in markup.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a page says, block by block.
pub fn blocks(page: &str) -> Vec<String> {
    let sections: Vec<&str> = page.split("<section ").collect();
    let kept = sections.iter().filter(|section| !DATA.iter().any(|id| section.starts_with(id)));
    let mut page = kept.copied().collect::<Vec<_>>().join("<section ");
    LEFT_OUT.iter().for_each(|element| page = without(&page, element));
    page = page.split("<span class=\"files\">").map(|part| part.to_owned()).collect::<Vec<_>>().join("<p>");
    let mut found = Vec::new();
    for part in page.split('<').filter(|part| !part.is_empty()) {
        let name = part.split([' ', '>']).next().unwrap_or_default();
        let (is_block, text) = (
            SAY.contains(&name)
                || ["div", "section", "span", "h2", "h3", "ul", "dl", "details", "a"].contains(&name),
            part.split_once('>').map_or("", |(_, text)| text),
        );
        let is_option = part.starts_with("span class=\"o\"");
        let inline = [
            "b", "em", "strong", "i", "sub", "sup", "/b", "/em", "/strong", "/i", "/sub", "/sup", "/a",
            "/span",
        ];
        match (is_block, is_option || inline.contains(&name)) {
            (_, true) if !found.is_empty() => {
                let last: &mut String = found.last_mut().unwrap();
                last.push_str(text);
            }
            _ => found.push(text.to_owned()),
        }
    }
    found.iter().map(|text| plain(text)).filter(|text| !text.is_empty()).collect()
}

/// The texts of a drawing.
pub fn drawn(svg: &str) -> Vec<String> {
    let texts = svg.split("<text").skip(1).chain(svg.split("<title").skip(1));
    texts.filter_map(|part| Some(plain(part.split_once('>')?.1.split("</").next()?))).collect()
}
