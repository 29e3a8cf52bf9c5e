import { describe, expect, test } from "vitest";
import { formatCheck } from "./formats.ts";

const cases: [format: string, good: string[], bad: string[]][] = [
  ["date", ["2024-02-29"], ["2024-1-1", "2023-02-29", "2024-00-10", "x"]],
  [
    "date-time",
    ["2024-05-01T12:00:00Z", "2024-05-01T12:00:00.123456+02:00"],
    ["2024-13-01T00:00:00Z", "2024-05-01", "2024-05-01T25:00:00Z"],
  ],
  ["duration", ["5s", "1h30m", "-1.5h", "0", "3 days"], ["5 parsecs", "", "5"]],
  ["ipv4", ["1.2.3.4", "001.2.3.4", "::ffff:1.2.3.4"], ["::1", "1.2.3", "1.2.3.256"]],
  ["ipv6", ["::1"], ["1.2.3.4", "fe80::1%eth0"]],
  ["cidr", ["10.0.0.0/8", "::/0"], ["1.2.3.4", "10.0.0.0/33"]],
  ["uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["x"]],
  [
    "uri",
    ["https://a.b/c?d=e", "/path", "mailto:a@b.c", "http://user:pass@[::1]:80/x"],
    ["not a uri", "a", "", "http://a b/", "http://a:x/", "/%zz"],
  ],
  ["hostname", ["a.example.com", "a-b", "☃.com"], ["a b", "-a", "a-b-c", "a.b.1"]],
  ["byte", ["YQ=="], ["?", "YQ=", ""]],
  ["mac", ["00:1a:2b:3c:4d:5e", "001a.2b3c.4d5e", "00-1a-2b-3c-4d-5e-6f-70"], ["x", "00:1a-2b:3c:4d:5e"]],
  ["isbn", ["0321751043", "978-0321751041"], ["0321751044", "x"]],
  ["creditcard", ["4111-1111-1111-1111"], ["4111-1111-1111-1112"]],
  ["ssn", ["111-11-1111"], ["111111111"]],
  ["hexcolor", ["#fff", "AABBCC"], ["#ff"]],
  ["rgbcolor", ["rgb(1, 20,255)"], ["rgb(1,2)"]],
  ["bsonobjectid", ["507f1f77bcf86cd799439011"], ["x"]],
  ["k8s-short-name", ["a-b"], ["A", "a.b"]],
  ["k8s-long-name", ["a.b-c"], ["a..b"]],
  ["uuid4", ["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-12d3-a456-426614174000"]],
  ["email", ["a@b.c", "Ann <a@b.c>", '"a b"@c'], ["a b@c", "a", "a@", "<a@b"]],
];
for (const [format, good, bad] of cases) {
  describe(format, () => {
    test.each(good)("accepts %j", (text) => {
      expect(formatCheck(format)?.(text)).toBe(true);
    });
    test.each(bad)("rejects %j", (text) => {
      expect(formatCheck(format)?.(text)).toBe(false);
    });
  });
}

test("an unknown format is not checked", () => {
  expect(formatCheck("whatever")).toBeUndefined();
});
