import { expect, test } from "vitest";
import { createFakeClock } from "./clock.ts";
import { FlotillaError, messageOf } from "./errors.ts";
import { createLog } from "./log.ts";

const setUp = (level: "debug" | "warn") => {
  const lines: unknown[] = [];
  return {
    log: createLog({ level, clock: createFakeClock(0), write: (line) => void lines.push(JSON.parse(line)) }),
    lines,
  };
};

test("a line is one JSON object with its time, level, message and fields, those of the part included", () => {
  const { log, lines } = setUp("debug");

  log.with({ component: "hub" }).info("works dispatched", { clusters: 3 });

  expect(lines).toEqual([
    { time: "1970-01-01T00:00:00.000Z", level: "info", message: "works dispatched", component: "hub", clusters: 3 },
  ]);
});

test("what is below the level is not written", () => {
  const { log, lines } = setUp("warn");

  log.debug("a");
  log.info("b");
  log.warn("c");

  expect(lines).toMatchObject([{ message: "c" }]);
});

test("an error is written as its message and causes, without a stack", () => {
  const { log, lines } = setUp("warn");

  log.error("failed", { error: new FlotillaError("Store", "writing", { cause: new Error("disk full") }) });

  expect(lines).toMatchObject([{ error: "writing: disk full" }]);
  expect(messageOf("text")).toBe("text");
});

test("a person reads a line with the fields behind the message", () => {
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    format: "text",
    clock: createFakeClock(0),
    write: (line) => void lines.push(line),
  });

  log
    .with({ component: "hub" })
    .warn("reconcile keeps failing", { failures: 7, error: new Error("disk\nfull"), labels: { a: "b" } });
  log.info("ready");

  expect(lines).toEqual([
    '1970-01-01T00:00:00.000Z WARN  reconcile keeps failing  component=hub failures=7 error="disk\\nfull" labels="{\\"a\\":\\"b\\"}"\n',
    "1970-01-01T00:00:00.000Z INFO  ready\n",
  ]);
});

const TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlLWJ5dGVz";
const KEY = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIBlah\n-----END EC PRIVATE KEY-----";

const secrets: Record<string, { message?: string; fields: Record<string, unknown>; secret: string }> = {
  "a token of a service account in an error": {
    fields: { error: new Error(`the server refused ${TOKEN}`) },
    secret: TOKEN,
  },
  "an Authorization header": {
    fields: { headers: { authorization: "Basic YWRtaW46aHVudGVyMg==" } },
    secret: "YWRtaW46aHVudGVyMg",
  },
  "a header that an error quotes": {
    fields: { error: new Error("GET / with Authorization: Bearer abc123def456ghi") },
    secret: "abc123def456ghi",
  },
  "a bootstrap token": { message: "no Secret for abcdef.0123456789abcdef", fields: {}, secret: "0123456789abcdef" },
  "the data of a Secret": {
    fields: { object: { kind: "Secret", data: { password: "aHVudGVyMg==" } } },
    secret: "aHVudGVyMg",
  },
  "what a Secret was written with": {
    fields: { object: { kind: "Secret", stringData: { user: "hunter2" } } },
    secret: "hunter2",
  },
  "a private key": { fields: { error: new Error(`cannot read ${KEY}`) }, secret: "MHcCAQEEIBlah" },
  "a password in an address": { fields: { url: "https://admin:hunter2@hub.example.com/" }, secret: "hunter2" },
  "a token in a query": { fields: { path: "/api?token=hunter2&watch=1" }, secret: "hunter2" },
  "a field that is called a token": { fields: { token: "hunter2", bootstrapToken: "hunter2" }, secret: "hunter2" },
};
for (const format of ["json", "text"] as const) {
  for (const [what, { message = "something failed", fields, secret }] of Object.entries(secrets)) {
    test(`${what} is not written as ${format}`, () => {
      let written = "";
      const log = createLog({
        level: "info",
        format,
        clock: createFakeClock(0),
        write: (line) => void (written += line),
      });

      log.with(fields).error(message, fields);

      expect(written).toContain("[redacted]");
      expect(written).not.toContain(secret);
    });
  }
}

test("the keys of objects and counts are no secrets", () => {
  const { log, lines } = setUp("debug");

  log.info("works dispatched", { key: "hub/shop/web", tokens: 3, policy: "web.example" });

  expect(lines).toMatchObject([{ key: "hub/shop/web", tokens: 3, policy: "web.example" }]);
});

test("a message that comes too often is counted instead of written, for a while, and others are not held up", () => {
  const clock = createFakeClock(0);
  const lines: { message: string; leftOut?: number; more?: string }[] = [];
  const log = createLog({
    level: "info",
    clock,
    write: (line) => void lines.push(JSON.parse(line) as { message: string }),
  });

  for (let index = 0; index < 1000; index++) log.with({ index }).info("again");
  log.info("other");
  clock.advance(10_000);
  log.info("again");

  expect(lines.length).toBe(502);
  expect(lines[499]).toMatchObject({ message: "again", more: "lines like this are left out for 10 s" });
  expect(lines.at(-1)).toMatchObject({ message: "again", leftOut: 500 });
});

test("a text of a page is cut", () => {
  const { log, lines } = setUp("debug");

  log.info("told", { text: "x".repeat(10_000) });

  expect((lines[0] as { text: string }).text.length).toBe(2001);
});
