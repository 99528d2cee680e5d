CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c INTEGER);
CREATE INDEX i ON t(c);
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300000)
INSERT INTO t SELECT x, printf('%08x', x * 7919), x * 31 % 1009 FROM n;
SELECT count(*), sum(length(b)) FROM t;
SELECT c, count(*), group_concat(b) FROM t GROUP BY c ORDER BY 2 DESC LIMIT 1;
SELECT count(DISTINCT substr(b, 3) || c) FROM t;
UPDATE t SET b = b || c WHERE c % 3 = 0;
SELECT max(length(b)) FROM t;
