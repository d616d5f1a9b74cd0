//! What a text on the stack has in common with `str`.

/// Lets a type with an `as_str` stand where a `str` is wanted.
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

        impl core::fmt::Display for $text {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl core::fmt::Debug for $text {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Debug::fmt(self.as_str(), f)
            }
        }
    };
}

pub(crate) use str_like;
