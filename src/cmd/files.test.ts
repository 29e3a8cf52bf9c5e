import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { FlotillaError } from "../base/index.ts";
import { readInput, readTextFile, writeSecretFile } from "./files.ts";

test("input is read to its end", async () => {
  const input = new PassThrough();
  const read = readInput(input, new AbortController().signal);

  input.write("kind: ");
  input.end("Deployment\n");

  expect(await read).toBe("kind: Deployment\n");
});

test("Ctrl-C ends the waiting for input, and lets it go", async () => {
  const input = new PassThrough();
  const stopping = new AbortController();
  const read = readInput(input, stopping.signal);

  stopping.abort(new FlotillaError("Stopped", "stopped by Ctrl-C"));

  await expect(read).rejects.toThrow("stopped by Ctrl-C");
  expect(input.destroyed).toBe(true);
});

test("a file that cannot be read or written is named", async () => {
  await expect(readTextFile("no/such/file")).rejects.toMatchObject({ code: "File", message: "reading no/such/file" });
  await expect(writeSecretFile("no/such/file", "")).rejects.toMatchObject({
    code: "File",
    message: "writing no/such/file",
  });
});
