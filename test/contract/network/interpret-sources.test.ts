import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { download, SourceError, Sources } from "../../../packages/cli/src/interpret/sources.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flotilla-sources-"));
  mkdirSync(join(folder, "deep"));
  for (const name of ["b.yaml", "a.json", "c.yml", "with,comma.yaml", "notes.txt", "deep/d.yaml"])
    writeFileSync(join(folder, name), name);
});
afterAll(() => rmSync(folder, { recursive: true }));

const makeSources = (): Sources =>
  new Sources({ readInput: () => Promise.resolve("input"), download: (url) => Promise.resolve(`body of ${url}`) });

const cases: Record<string, { names: string[]; recursive?: boolean; want: string[] }> = {
  "YAML and JSON files of a folder, in order": {
    names: [""],
    want: ["a.json", "b.yaml", "c.yml", "with,comma.yaml"],
  },
  "a folder with subfolders": {
    names: [""],
    recursive: true,
    want: ["a.json", "b.yaml", "c.yml", "deep/d.yaml", "with,comma.yaml"],
  },
  "a file with any name": { names: ["notes.txt"], want: ["notes.txt"] },
  "a pattern that the shell did not expand": { names: ["*.y*ml"], want: ["b.yaml", "c.yml", "with,comma.yaml"] },
  "comma-separated names": { names: ["c.yml,b.yaml"], want: ["c.yml", "b.yaml"] },
  "a file with a comma in its name": { names: ["with,comma.yaml"], want: ["with,comma.yaml"] },
};
for (const [what, { names, recursive = false, want }] of Object.entries(cases)) {
  test(`reads ${what}`, async () => {
    const sources = await makeSources().read(
      names.map((name) =>
        name.split(",").length > 1 && name !== "with,comma.yaml"
          ? name
              .split(",")
              .map((part) => join(folder, part))
              .join(",")
          : join(folder, name),
      ),
      { recursive },
    );

    expect(sources.map(({ name }) => relative(folder, name))).toEqual(want);
    expect(sources.map(({ text }) => text)).toEqual(want);
  });
}

test("reads standard input and URLs", async () => {
  expect(await makeSources().read(["-", "https://example.com/rules.yaml"])).toEqual([
    { name: "STDIN", text: "input" },
    { name: "https://example.com/rules.yaml", text: "body of https://example.com/rules.yaml" },
  ]);
});

test("a failed download reports the server's status", async () => {
  const server = createServer((request, response) =>
    response.writeHead(request.url === "/rules.yaml" ? 200 : 404).end("a: é"),
  );
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();

  try {
    expect(await download(`${address}/rules.yaml`, signal)).toBe("a: é");
    await expect(download(`${address}/other.yaml`, signal)).rejects.toThrow(
      `reading ${address}/other.yaml: the server returned 404 Not Found`,
    );
  } finally {
    server.close();
  }
  await expect(download(`${address}/rules.yaml`, signal)).rejects.toThrow(SourceError);
});
