import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { runGolden } from "./golden.ts";

const named = (name: string, result: string): string =>
  JSON.stringify({ name, input: { function: "executionNamespace", args: ["oslo"] }, want: { result } });

/** Runs `check` with a directory that contains these files. */
async function withFolder(
  files: Record<string, string | Uint8Array>,
  check: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "golden-"));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
    await check(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test("cases are counted as passed, known and failed", async () => {
  const lines = [
    named("right", "karmada-es-oslo"),
    named("known", "x"),
    named("wrong", "y"),
    named("stale", "karmada-es-oslo"),
  ];

  await withFolder({ "names.jsonl": lines.join("\n") }, async (directory) => {
    const { files } = await runGolden({ directory, differences: { names: { known: "because", stale: "because" } } });

    expect(files).toEqual([
      {
        file: "names",
        passed: 2,
        known: [
          { name: "known", difference: 'got {"result":"karmada-es-oslo"}, want {"result":"x"}', reason: "because" },
        ],
        failed: [{ name: "wrong", difference: 'got {"result":"karmada-es-oslo"}, want {"result":"y"}' }],
        stale: ["stale"],
      },
    ]);
  });
});

test("compressed recordings are read, and formats without a runner are listed", async () => {
  await withFolder(
    { "names.jsonl.gz": gzipSync(named("right", "karmada-es-oslo")), "toString.jsonl": "{}", "notes.txt": "" },
    async (directory) => {
      const result = await runGolden({ directory, differences: {} });

      expect(result.files.map(({ file, passed }) => [file, passed])).toEqual([["names", 1]]);
      expect(result.withoutRunner).toEqual(["toString"]);
    },
  );
});

test("an invalid line is reported", async () => {
  await withFolder({ "names.jsonl": `${named("right", "karmada-es-oslo")}\n{` }, async (directory) => {
    await expect(runGolden({ directory, differences: {} })).rejects.toThrow("names, line 2 is not JSON");
  });
});

test("one recording can be run alone", async () => {
  await withFolder({ "names.jsonl": named("right", "karmada-es-oslo"), "match.jsonl": "" }, async (directory) => {
    const { files } = await runGolden({ directory, differences: {}, only: ["match"] });

    expect(files.map(({ file }) => file)).toEqual(["match"]);
  });
});
