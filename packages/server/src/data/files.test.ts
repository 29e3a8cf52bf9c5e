import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { FlotillaError } from "@flotilla/base";
import { readInput, readTextFile, writeSecretFile } from "./files.ts";

test("input is read to its end", async () => {
  const input = new PassThrough();
  const read = readInput(input, new AbortController().signal);

  input.write("kind: ");
  input.end("Deployment\n");

  expect(await read).toBe("kind: Deployment\n");
});

test("Ctrl-C stops waiting for input, and releases it", async () => {
  const input = new PassThrough();
  const stopping = new AbortController();
  const read = readInput(input, stopping.signal);

  stopping.abort(new FlotillaError("Stopped", "interrupted by Ctrl-C"));

  await expect(read).rejects.toThrow("interrupted by Ctrl-C");
  expect(input.destroyed).toBe(true);
});

test("an unreadable or unwritable file is named", async () => {
  await expect(readTextFile("no/such/file")).rejects.toMatchObject({ code: "File", message: "reading no/such/file" });
  await expect(writeSecretFile("no/such/file", "")).rejects.toMatchObject({
    code: "File",
    message: "writing no/such/file",
  });
});
