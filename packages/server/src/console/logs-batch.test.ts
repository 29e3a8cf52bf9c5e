import { describe, expect, test } from "vitest";
import type { LogLine, LogsMessage } from "@flotilla/web";
import { MAX_WAITING_CHARACTERS, MAX_WAITING_LINES, mergeBatches } from "./logs-batch.ts";

const line = (text: string): LogLine => ({ member: "oslo", pod: "web-1", container: "app", time: "t", text });
const batch = (lines: LogLine[], lost = 0, notes: string[] = []): LogsMessage => ({ lines, lost, notes, sources: [] });

describe("batches of log lines that wait for a page", () => {
  test("are joined in order, with the newest notes and all lost lines", () => {
    const merged = mergeBatches(batch([line("a")], 1, ["old"]), batch([line("b"), line("c")], 2, ["new"]));

    expect(merged).toEqual(batch([line("a"), line("b"), line("c")], 3, ["new"]));
  });

  test("keep the newest lines and count the others as lost", () => {
    const many = Array.from({ length: MAX_WAITING_LINES }, (_, index) => line(String(index)));

    const merged = mergeBatches(batch(many, 4), batch([line("x"), line("y")]));

    expect(merged.lines).toHaveLength(MAX_WAITING_LINES);
    expect(merged.lines.slice(-2).map(({ text }) => text)).toEqual(["x", "y"]);
    expect(merged.lost).toBe(6);
  });

  test("are bounded by the length of their lines too", () => {
    const long = "x".repeat(MAX_WAITING_CHARACTERS / 4);

    const merged = mergeBatches(batch([long, long, long].map(line)), batch([long, long].map(line)));

    expect(merged.lines).toHaveLength(4);
    expect(merged.lost).toBe(1);
  });
});
