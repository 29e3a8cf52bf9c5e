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

test("a line is one JSON object with time, level, message and fields, including those of `with`", () => {
  const { log, lines } = setUp("debug");

  log.with({ component: "hub" }).info("works dispatched", { clusters: 3 });

  expect(lines).toEqual([
    { time: "1970-01-01T00:00:00.000Z", level: "info", message: "works dispatched", component: "hub", clusters: 3 },
  ]);
});

test("lines below the level are not written", () => {
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

test("the text format puts the fields after the message", () => {
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
  "a service account token in an error": {
    fields: { error: new Error(`the server refused ${TOKEN}`) },
    secret: TOKEN,
  },
  "an Authorization header": {
    fields: { headers: { authorization: "Basic YWRtaW46aHVudGVyMg==" } },
    secret: "YWRtaW46aHVudGVyMg",
  },
  "a header quoted in an error": {
    fields: { error: new Error("GET / with Authorization: Bearer abc123def456ghi") },
    secret: "abc123def456ghi",
  },
  "a bootstrap token": { message: "no Secret for abcdef.0123456789abcdef", fields: {}, secret: "0123456789abcdef" },
  "the data of a Secret": {
    fields: { object: { kind: "Secret", data: { password: "aHVudGVyMg==" } } },
    secret: "aHVudGVyMg",
  },
  "the stringData of a Secret": {
    fields: { object: { kind: "Secret", stringData: { user: "hunter2" } } },
    secret: "hunter2",
  },
  "a private key": { fields: { error: new Error(`cannot read ${KEY}`) }, secret: "MHcCAQEEIBlah" },
  "a password in a URL": { fields: { url: "https://admin:hunter2@hub.example.com/" }, secret: "hunter2" },
  "a token in a query": { fields: { path: "/api?token=hunter2&watch=1" }, secret: "hunter2" },
  "a field named token": { fields: { token: "hunter2", bootstrapToken: "hunter2" }, secret: "hunter2" },
};
for (const format of ["json", "text"] as const) {
  for (const [what, { message = "something failed", fields, secret }] of Object.entries(secrets)) {
    test(`${what} is redacted from ${format} logs`, () => {
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

test("object keys and counts are not redacted", () => {
  const { log, lines } = setUp("debug");

  log.info("works dispatched", { key: "hub/shop/web", tokens: 3, policy: "web.example" });

  expect(lines).toMatchObject([{ key: "hub/shop/web", tokens: 3, policy: "web.example" }]);
});

test("a message logged too often is counted instead of written for a while, and other messages are not affected", () => {
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
  expect(lines[499]).toMatchObject({
    message: "again",
    more: "further lines with this message are suppressed for 10 s",
  });
  expect(lines.at(-1)).toMatchObject({ message: "again", leftOut: 500 });
});

test("a long text is truncated", () => {
  const { log, lines } = setUp("debug");

  log.info("reported", { text: "x".repeat(10_000) });

  expect((lines[0] as { text: string }).text.length).toBe(2001);
});
