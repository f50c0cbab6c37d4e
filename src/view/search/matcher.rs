//! A query as one expression that names are tested against.

use super::Query;
use regex::{Regex, RegexBuilder};

/// Why a query is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    /// What is wrong, as the end of a sentence.
    pub message: String,
    /// The character where it is wrong, counted from 1.
    pub at: Option<usize>,
}

impl std::fmt::Display for QueryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.at {
            Some(at) => write!(f, "Not a regular expression: {}, at character {at}", self.message),
            None => write!(f, "Not a regular expression: {}", self.message),
        }
    }
}

/// Tests names against a query.
#[derive(Debug)]
pub struct Matcher(Regex);

impl Matcher {
    /// The matcher of `query`; `None` when its text is empty.
    ///
    /// # Errors
    /// When the text is to be a regular expression and is none.
    pub fn of(query: &Query) -> Result<Option<Self>, QueryError> {
        if query.text.is_empty() {
            return Ok(None);
        }
        let plain;
        let text = if query.regex {
            &query.text
        } else {
            plain = regex::escape(&query.text);
            &plain
        };
        let built = RegexBuilder::new(text).case_insensitive(!query.match_case).build();
        built.map(|regex| Some(Self(regex))).map_err(|error| explain(&error))
    }

    /// Whether `name` matches.
    pub fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// The library explains in several lines: the expression, a mark below the place, and what is wrong.
fn explain(error: &regex::Error) -> QueryError {
    let regex::Error::Syntax(text) = error else {
        return QueryError { message: "it is too large".to_owned(), at: None };
    };
    let last = text.lines().last().unwrap_or_default();
    let message = last.trim().trim_start_matches("error: ").to_owned();
    let is_mark = |line: &&str| line.contains('^') && line.trim_matches([' ', '^']).is_empty();
    // The expression stands four columns in.
    let column = text.lines().skip(1).find(is_mark).and_then(|line| line.chars().position(|sign| sign == '^'));
    QueryError { message, at: column.and_then(|column| Some(column.checked_sub(4)? + 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn query(text: &str, regex: bool, match_case: bool) -> Query {
        Query { text: text.to_owned(), regex, match_case }
    }

    fn matches(query: &Query, name: &str) -> bool {
        Matcher::of(query).unwrap().unwrap().matches(name)
    }

    #[test]
    fn an_empty_text_is_no_search() {
        assert!(Matcher::of(&Query::default()).unwrap().is_none());
    }

    #[test]
    fn plain_text_has_no_special_signs() {
        assert!(matches(&query("f<(a.b)*>", false, false), "void F<(A.B)*>::run"));
        assert!(!matches(&query("a.b", false, false), "axb"));
        assert!(matches(&query("a.b", true, false), "AxB") && !matches(&query("a.b", true, true), "AxB"));
        assert!(matches(&query("straße", false, false), "STRAßE"));
    }

    #[test]
    fn a_broken_expression_says_what_is_wrong_and_where() {
        let of = |text| Matcher::of(&query(text, true, false)).unwrap_err();
        assert_eq!(of("gemm(").to_string(), "Not a regular expression: unclosed group, at character 5");
        assert_eq!(of("*").at, Some(1));
        assert_eq!(of("[a").message, "unclosed character class");
        assert!(of(&"(a{1000}){1000}".repeat(3)).to_string().contains("too large"));
        assert!(Matcher::of(&query("gemm(", false, false)).is_ok());
    }

    proptest! {
        #[test]
        fn plain_search_equals_the_standard_librarys(name in "[a-cA-C.*(]{0,12}", text in "[a-cA-C.*(]{1,3}") {
            prop_assert_eq!(matches(&query(&text, false, true), &name), name.contains(&text));
            let folded = name.to_lowercase().contains(&text.to_lowercase());
            prop_assert_eq!(matches(&query(&text, false, false), &name), folded);
            prop_assert_eq!(matches(&query(&regex::escape(&text), true, true), &name), name.contains(&text));
        }
    }
}
