import { array, assert, integer, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "@flotilla/apimachinery";
import { ResponseLimitError, UnreachableError } from "./errors.ts";
import { createBufferMeter } from "./response-limits.ts";
import { createWatchDecoder } from "./watch-decoder.ts";

const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;

describe("watch decoder", () => {
  test("yields the same events for any split into chunks", () => {
    const text =
      line("ADDED", { name: "träge 🐢" }) +
      line("MODIFIED", { name: "a" }) +
      line("BOOKMARK", {}) +
      line("DELETED", { name: "日本" });
    const bytes = Buffer.from(text);

    assert(
      property(array(integer({ min: 0, max: bytes.length }), { maxLength: 12 }), (cuts) => {
        const ends = [...cuts, bytes.length].sort((a, b) => a - b);
        const decoder = createWatchDecoder();
        let start = 0;

        const events = ends.flatMap((end) => {
          const chunk = bytes.subarray(start, end);
          start = end;
          return decoder.push(chunk).events;
        });

        expect(events).toEqual([
          { type: "ADDED", object: { name: "träge 🐢" } },
          { type: "MODIFIED", object: { name: "a" } },
          { type: "BOOKMARK", object: {} },
          { type: "DELETED", object: { name: "日本" } },
        ]);
        expect(decoder.incomplete).toBe(false);
      }),
    );
  });

  test("delivers the events before an ERROR event, and then its Status as an error", () => {
    const decoder = createWatchDecoder();
    const status = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" };

    const { events, failure } = decoder.push(Buffer.from(line("ADDED", {}) + line("ERROR", status)));

    expect(events).toEqual([{ type: "ADDED", object: {} }]);
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure).toMatchObject({ code: "Expired", status });
  });

  test("detects that the stream stopped inside an event", () => {
    const decoder = createWatchDecoder();

    decoder.push(Buffer.from('{"type":"ADDED","obj'));

    expect(decoder.incomplete).toBe(true);
  });

  const refused: Record<string, string> = {
    "rejects a line that is not JSON": "<html>\n",
    "rejects an event without an object": '{"type":"ADDED"}\n',
    "rejects an unknown event type": line("RENAMED", {}),
    "rejects a line that is too long": "x".repeat(101),
    "rejects a complete line that is too long": line("ADDED", { a: "x".repeat(100) }),
  };
  for (const [behaviour, text] of Object.entries(refused)) {
    test(behaviour, () => {
      const { failure } = createWatchDecoder({ limits: { objectBytes: 100, objectValues: 100 } }).push(
        Buffer.from(text),
      );

      expect(failure).toBeInstanceOf(UnreachableError);
    });
  }

  test("rejects an event with too many values before it is parsed", () => {
    const decoder = createWatchDecoder({ limits: { objectBytes: 1_000_000, objectValues: 1000 } });

    const { failure } = decoder.push(Buffer.from(`{"type":"ADDED","object":{"x":[${"{},".repeat(30_000)}{}]}}\n`));

    expect(failure).toMatchObject({ message: "a watch event has more than 1000 values" });
  });

  test("incomplete events of all watches together are limited, and released when they are complete or closed", () => {
    const meter = createBufferMeter(150);
    const [first, second, third] = [1, 2, 3].map(() => createWatchDecoder({ meter }));
    const half = Buffer.from(`{"type":"ADDED","object":{"a":"${"x".repeat(30)}`);

    first?.push(half);
    const full = second?.push(half);
    const over = third?.push(half);
    first?.push(Buffer.from('"}}\n'));
    second?.close();
    third?.close();
    const after = createWatchDecoder({ meter }).push(half);

    expect(full?.failure?.message).toBeUndefined();
    expect(over?.failure).toBeInstanceOf(ResponseLimitError);
    expect(after.failure).toBeUndefined();
  });
});
