import { describe, expect, test } from "vitest";
import { formatCheck } from "./formats.ts";

const cases: [format: string, good: string[], bad: string[]][] = [
  ["date", ["2024-02-29"], ["2024-1-1", "2023-02-29", "2024-00-10", "x"]],
  ["date-time", ["2024-05-01T12:00:00Z", "2024-05-01T12:00:00.123456+02:00"], ["2024-13-01T00:00:00Z", "2024-05-01", "2024-05-01T25:00:00Z"]],
  ["duration", ["5s", "1h30m", "-1.5h", "0", "3 days"], ["5 parsecs", "", "5"]],
  ["ipv4", ["1.2.3.4"], ["::1", "1.2.3"]],
  ["ipv6", ["::1"], ["1.2.3.4"]],
  ["cidr", ["10.0.0.0/8", "::/0"], ["1.2.3.4", "10.0.0.0/33"]],
  ["uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["x"]],
  ["uri", ["https://a.b/c?d=e", "/path"], ["not a uri", "a"]],
  ["hostname", ["a.example.com"], ["a b", "-a"]],
  ["byte", ["YQ==", ""], ["?", "YQ="]],
  ["mac", ["00:1a:2b:3c:4d:5e"], ["x"]],
  ["email", ["a@b.c"], ["a b@c", "a"]],
];
for (const [format, good, bad] of cases) {
  describe(format, () => {
    test.each(good)("accepts %j", (text) => {
      expect(formatCheck(format)?.(text)).toBe(true);
    });
    test.each(bad)("refuses %j", (text) => {
      expect(formatCheck(format)?.(text)).toBe(false);
    });
  });
}

test("a format that is not known is not checked", () => {
  expect(formatCheck("whatever")).toBeUndefined();
});
