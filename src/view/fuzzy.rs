//! Finding a name by some of its letters, in order: what is typed into the list of commands.

/// How well `text` answers `typed`, better ones higher; `None` when it does not. Every word of `typed` has to be found:
/// as it is, best at the start of a word, else by its letters in order. Capital and small letters are the same.
pub fn score(typed: &str, text: &str) -> Option<i32> {
    let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let mut sum = 0;
    for word in typed.split_whitespace() {
        let word: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
        sum += word_score(&word, &text)?;
    }
    // Of two that answer equally well, the one that says less besides.
    Some(sum * 100 - text.len().min(99) as i32)
}

/// What a match as it is counts, more at the start of a word, more still when the word ends with it, and most at the
/// start of the text.
const WHOLE: i32 = 100;
const AT_WORD: i32 = 60;
const ENDS: i32 = 30;
const AT_START: i32 = 20;
/// What a letter at the start of a word, or right after the one before, counts.
const GOOD_LETTER: i32 = 5;

fn word_score(word: &[char], text: &[char]) -> Option<i32> {
    let whole = text.windows(word.len()).enumerate().filter(|(_, part)| *part == word);
    let whole = whole.map(|(at, _)| {
        let ends = text.get(at + word.len()).is_none_or(|next| !next.is_alphanumeric());
        let begins = starts_word(text, at);
        WHOLE
            + if begins { AT_WORD } else { 0 }
            + if begins && ends { ENDS } else { 0 }
            + if at == 0 { AT_START } else { 0 }
    });
    whole.max().or_else(|| letters_score(word, text))
}

/// The letters of `word` in order, each at the first place it can be.
fn letters_score(word: &[char], text: &[char]) -> Option<i32> {
    let (mut sum, mut from, mut before) = (0, 0, None);
    for letter in word {
        let at = from + text.get(from..)?.iter().position(|other| other == letter)?;
        if starts_word(text, at) || before.is_some_and(|before: usize| before + 1 == at) {
            sum += GOOD_LETTER;
        }
        (from, before) = (at + 1, Some(at));
    }
    Some(sum.min(WHOLE - 1))
}

fn starts_word(text: &[char], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| text.get(before)).is_none_or(|before| !before.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn best<'a>(typed: &str, texts: &[&'a str]) -> &'a str {
        texts.iter().max_by_key(|text| score(typed, text)).unwrap()
    }

    #[test]
    fn a_word_beats_its_letters_and_a_whole_word_a_part() {
        assert_eq!(best("step 2", &["Show step 12", "Show step 20", "Show step 2"]), "Show step 2");
        assert_eq!(best("pic", &["Previous ticks", "Save the view as a picture…"]), "Save the view as a picture…");
        assert_eq!(best("gap", &["Theme: dark, big map", "Show panel Gaps"]), "Show panel Gaps");
        assert_eq!(best("stp", &["Show step 1", "Quit", "Theme: dark"]), "Show step 1");
    }

    #[test]
    fn words_may_come_in_any_order() {
        assert!(score("panel show", "Show panel Gaps").is_some());
        assert!(score("gaps nothing", "Show panel Gaps").is_none());
        assert_eq!(score("", "Quit"), score("   ", "Quit"));
    }

    proptest! {
        #[test]
        fn letters_in_order_are_found_whatever_lies_between(text in "[a-zA-Z :]{0,40}", keep in prop::collection::vec(any::<bool>(), 40)) {
            let letters: String = text.chars().zip(keep).filter(|(c, keep)| *keep && *c != ' ').map(|(c, _)| c).collect();
            prop_assert!(score(&letters, &text).is_some(), "{letters:?} in {text:?}");
        }
    }
}
