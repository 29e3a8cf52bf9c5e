import { expect, test } from "vitest";
import { parseLastStart, startCommandOf } from "./data-directory.ts";

test("a hub is started again as it was started last", () => {
  expect(startCommandOf("/hub", { command: "apiserver", port: 7443 })).toBe(
    "flotilla apiserver --data /hub --port 7443",
  );
  expect(startCommandOf(undefined, { command: "up", port: 6443 })).toBe("flotilla up");
});

const notes: Record<string, { text: string; want: unknown }> = {
  "names the command": { text: '{"command":"apiserver","port":1}', want: { command: "apiserver", port: 1 } },
  "of an unknown command is that of a whole hub": {
    text: '{"command":"x","port":1}',
    want: { command: "up", port: 1 },
  },
  "without a port is ignored": { text: '{"command":"up"}', want: undefined },
  "that is damaged is ignored": { text: '{"comm', want: undefined },
};
for (const [name, { text, want }] of Object.entries(notes))
  test(`the record of the last start ${name}`, () => {
    expect(parseLastStart(text)).toEqual(want);
  });
