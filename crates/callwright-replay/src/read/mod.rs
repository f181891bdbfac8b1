//! A record in any known format → what it shows.
