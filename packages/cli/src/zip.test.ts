import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { readZipEntry } from "./zip.ts";

/** The smallest archive with one deflated file. */
function zip(name: string, content: string): Buffer {
  const data = deflateRawSync(content);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(8, 8);
  local.writeUInt32LE(data.length, 18);
  local.writeUInt16LE(name.length, 26);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(8, 10);
  entry.writeUInt32LE(data.length, 20);
  entry.writeUInt16LE(name.length, 28);
  const directoryAt = local.length + name.length + data.length;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(directoryAt, 16);
  return Buffer.concat([local, Buffer.from(name), data, entry, Buffer.from(name), end]);
}

test("a file is read out of an archive by its name", () => {
  expect(readZipEntry(zip("kubectl/kubectl", "the program"), "kubectl/kubectl").toString()).toBe("the program");
});

test("a missing file and a file that is not an archive are explained", () => {
  expect(() => readZipEntry(zip("a", "b"), "kubectl/kubectl")).toThrow("does not contain kubectl/kubectl");
  expect(() => readZipEntry(Buffer.from("no archive at all, just text"), "a")).toThrow("not a zip archive");
});
