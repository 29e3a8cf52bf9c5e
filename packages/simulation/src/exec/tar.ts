/** Archives as `kubectl cp` sends and expects them: regular files and directories in the ustar format. Pure. */
import { FlotillaError } from "@flotilla/base";

export interface ArchivedFile {
  /** As in the archive, without a leading slash. */
  readonly path: string;
  readonly content: Buffer;
  readonly isDirectory: boolean;
}

const BLOCK = 512;

/** The files of an archive; links and other kinds are skipped. Throws for anything else than an archive. */
export function readTar(archive: Buffer): ArchivedFile[] {
  const files: ArchivedFile[] = [];
  let longName: string | undefined;
  for (let at = 0; at + BLOCK <= archive.length;) {
    const head = archive.subarray(at, at + BLOCK);
    if (head.every((byte) => byte === 0)) break;
    const size = Number.parseInt(textAt(head, 124, 12), 8);
    if (!Number.isSafeInteger(size) || size < 0)
      throw new FlotillaError("SimulatedPod", "This does not look like a tar archive");
    const content = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (content.length < size) throw new FlotillaError("SimulatedPod", "Unexpected EOF in archive");
    const type = String.fromCharCode(head[156] ?? 0);
    const prefix = textAt(head, 345, 155);
    const name = longName ?? (prefix === "" ? textAt(head, 0, 100) : `${prefix}/${textAt(head, 0, 100)}`);
    longName = undefined;
    if (type === "L") longName = content.toString().replace(/\0.*$/s, "");
    else if (type === "x") longName = /^\d+ path=(.*)$/m.exec(content.toString())?.[1];
    else if (type === "0" || type === "\0" || type === "5")
      files.push({ path: name.replace(/^\/+|\/+$/g, ""), content, isDirectory: type === "5" });
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

export function writeTar(files: readonly { path: string; content: Uint8Array }[], nowMs: number): Buffer {
  const parts: Buffer[] = [];
  for (const { path, content } of files) {
    const head = Buffer.alloc(BLOCK);
    head.write(path.slice(0, 100), 0);
    head.write("0000644\0", 100);
    head.write("0000000\0", 108);
    head.write("0000000\0", 116);
    head.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
    head.write(
      `${Math.floor(nowMs / 1000)
        .toString(8)
        .padStart(11, "0")}\0`,
      136,
    );
    head.write("        ", 148);
    head.write("0", 156);
    head.write("ustar\x0000", 257, "latin1");
    const sum = head.reduce((total, byte) => total + byte, 0);
    head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    parts.push(head, Buffer.from(content), Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK));
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function textAt(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? length : end).trim();
}
