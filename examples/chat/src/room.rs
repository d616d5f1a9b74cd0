//! The names of rooms.

use imid::{SessionTag, SessionType};

/// A room: `group:NAME`, or `private:A:B` with its two users in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Room {
    /// The name that the tables have.
    pub name: String,
    /// The tag that the IDs of the room have. Other rooms can have it too.
    pub tag: SessionTag,
    users: Option<[String; 2]>,
}

/// Whether a text can be the name of a user or a group.
pub fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len()) && !text.chars().any(char::is_control)
}

impl Room {
    /// Reads a room's name. The users of a private chat can be in both orders.
    pub fn parse(name: &str) -> Result<Self, String> {
        let parts: Vec<&str> = name.split(':').collect();
        match parts[..] {
            ["group", group] if is_name(group) => {
                Ok(Self { name: name.to_owned(), tag: SessionTag::new(SessionType::GROUP, group), users: None })
            }
            ["private", a, b] if is_name(a) && is_name(b) => {
                let [a, b] = if a <= b { [a, b] } else { [b, a] };
                let users = Some([a.to_owned(), b.to_owned()]);
                Ok(Self { name: format!("private:{a}:{b}"), tag: SessionTag::pair(a, b), users })
            }
            _ => Err(format!(
                "expected a room as group:NAME or private:A:B, with names of 1 to 64 bytes, found {name:?}"
            )),
        }
    }

    /// Whether a user may read and write here.
    pub fn admits(&self, user: &str) -> bool {
        self.users.as_ref().is_none_or(|users| users.iter().any(|member| member == user))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_chat_is_one_room_for_both_of_its_users() {
        let room = Room::parse("private:bob:alice").unwrap();
        assert_eq!(room, Room::parse("private:alice:bob").unwrap());
        assert_eq!(room.name, "private:alice:bob");
        assert_eq!(room.tag, SessionTag::pair("alice", "bob"));
        assert!(room.admits("alice") && room.admits("bob") && !room.admits("carol"));
        assert!(Room::parse("group:bob").unwrap().admits("carol"));
    }

    #[test]
    fn other_names_are_refused() {
        for name in
            ["", "group", "group:", "group:a:b", "private:a", "private:a:", "private:a:b:c", "party:a", "group:a\n"]
        {
            assert_eq!(
                Room::parse(name),
                Err(format!(
                    "expected a room as group:NAME or private:A:B, with names of 1 to 64 bytes, found {name:?}"
                ))
            );
        }
    }
}
