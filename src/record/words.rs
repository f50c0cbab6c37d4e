//! A typed command as words, each kept as it was typed.

/// The words of `typed`, with their quotes and backslashes as they stand, so that a shell reads each as before. A
/// quote that is not closed reaches to the end and is closed there.
pub fn split_words(typed: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut escaped = false;
    for c in typed.chars() {
        match (quote, escaped) {
            (_, true) => escaped = false,
            (None | Some('"'), false) if c == '\\' => escaped = true,
            (Some(open), _) if c == open => quote = None,
            (None, _) if c == '\'' || c == '"' => quote = Some(c),
            (None, _) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                continue;
            }
            _ => {}
        }
        word.push(c);
    }
    if escaped {
        word.pop();
    }
    word.extend(quote);
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_quotes() {
        let cases = [
            ("python  train.py --lr 1", vec!["python", "train.py", "--lr", "1"]),
            ("python 'a b' \"c 'd\" e\\ f", vec!["python", "'a b'", "\"c 'd\"", "e\\ f"]),
            ("a'b c'd $HOME/x", vec!["a'b c'd", "$HOME/x"]),
            (r"'a\' b", vec![r"'a\'", "b"]),
            (r#""a\" b" c"#, vec![r#""a\" b""#, "c"]),
            ("python 'open end", vec!["python", "'open end'"]),
            ("python \\", vec!["python"]),
            ("  ", vec![]),
        ];
        for (typed, expected) in cases {
            assert_eq!(split_words(typed), expected, "{typed}");
        }
    }
}
