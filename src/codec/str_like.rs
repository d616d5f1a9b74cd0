//! The traits of `str` for a text on the stack.

/// Implements the traits of `str` for a type of ASCII texts that has `as_str`, and whose `Hash` and `Ord` are those of
/// the text.
macro_rules! str_like {
    ($text:ty) => {
        impl core::ops::Deref for $text {
            type Target = str;

            fn deref(&self) -> &str {
                self.as_str()
            }
        }

        impl AsRef<str> for $text {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl core::borrow::Borrow<str> for $text {
            fn borrow(&self) -> &str {
                self.as_str()
            }
        }

        impl core::fmt::Display for $text {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                $crate::codec::pad(self.as_str(), f)
            }
        }

        impl core::fmt::Debug for $text {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Debug::fmt(self.as_str(), f)
            }
        }

        impl PartialEq<str> for $text {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $text {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl PartialEq<$text> for str {
            fn eq(&self, other: &$text) -> bool {
                self == other.as_str()
            }
        }

        impl PartialEq<$text> for &str {
            fn eq(&self, other: &$text) -> bool {
                *self == other.as_str()
            }
        }

        #[cfg(feature = "std")]
        impl PartialEq<String> for $text {
            fn eq(&self, other: &String) -> bool {
                self.as_str() == other
            }
        }

        #[cfg(feature = "std")]
        impl PartialEq<$text> for String {
            fn eq(&self, other: &$text) -> bool {
                self == other.as_str()
            }
        }

        #[cfg(feature = "std")]
        impl From<$text> for String {
            fn from(text: $text) -> Self {
                text.as_str().to_owned()
            }
        }
    };
}

pub(crate) use str_like;
