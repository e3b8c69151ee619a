# filled by its room
