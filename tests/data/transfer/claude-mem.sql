CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT);
CREATE TABLE session_summaries (
    id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT, investigated TEXT, learned TEXT,
    completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT, created_at_epoch INTEGER);
CREATE TABLE observations (
    id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, type TEXT, title TEXT, subtitle TEXT, facts TEXT,
    narrative TEXT, files_modified TEXT, created_at_epoch INTEGER);
INSERT INTO sdk_sessions VALUES (1, 'c0ffee00-0000-4000-8000-000000000001', 'm1', 'shop');
INSERT INTO session_summaries VALUES (1, 'm1', 'shop', 'Round the totals', '', 'Cents are whole numbers',
    'Totals are rounded at the end with token ghp_aaaaBBBB1111ccccDDDD2222eeeeFFFF3333.', 'Test the guest cart', '[]', '["src/cart.py"]', '', 1790000000000);
INSERT INTO session_summaries VALUES (2, 'm2', 'other', 'Not ours', '', '', 'Nothing of ours.', '', '', '', '', 1790000000000);
INSERT INTO observations VALUES (1, 'm1', 'shop', 'decision', 'Round once', '', '[]', 'Rounding twice loses cents', '[]', 1790000100000);
