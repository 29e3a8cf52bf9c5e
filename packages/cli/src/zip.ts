/** Reads one file from a zip archive: enough of the format for archives in npm packages. */
import { inflateRawSync } from "node:zlib";
import { FlotillaError } from "@flotilla/base";

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
/** The end record may be followed by a comment of at most this length. */
const MAX_COMMENT = 0xffff;

export function readZipEntry(archive: Buffer, name: string): Buffer {
  let end = archive.length - 22;
  while (end >= 0 && end >= archive.length - 22 - MAX_COMMENT && archive.readUInt32LE(end) !== END_OF_DIRECTORY) end--;
  if (end < 0 || archive.readUInt32LE(end) !== END_OF_DIRECTORY)
    throw new FlotillaError("Archive", `looking for ${name}: this is not a zip archive`);

  let at = archive.readUInt32LE(end + 16);
  for (let entries = archive.readUInt16LE(end + 10); entries > 0; entries--) {
    if (archive.readUInt32LE(at) !== DIRECTORY_ENTRY) break;
    const nameLength = archive.readUInt16LE(at + 28);
    if (archive.toString("utf8", at + 46, at + 46 + nameLength) === name) return readEntry(archive, at);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new FlotillaError("Archive", `the zip archive does not contain ${name}`);
}

function readEntry(archive: Buffer, at: number): Buffer {
  const method = archive.readUInt16LE(at + 10);
  const size = archive.readUInt32LE(at + 20);
  const header = archive.readUInt32LE(at + 42);
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  const data = archive.subarray(start, start + size);
  return method === 0 ? data : inflateRawSync(data);
}
