/**
 * Programs of a simulated container that read input or files: `cat`, `test -d`, and `tar` as `kubectl cp` calls it. Files
 * are those that were copied into the container; an image's own files do not exist.
 */
import { posix } from "node:path";
import { messageOf } from "@flotilla/base";
import type { ContainerFiles } from "./container-files.ts";
import { readTar, writeTar } from "./tar.ts";

interface FileStreams {
  readonly stdin: AsyncIterable<Uint8Array>;
  stdout(chunk: Uint8Array): Promise<void>;
  err(text: string): Promise<void>;
}

type FileProgram = (streams: FileStreams) => Promise<number>;

/** An archive is held until it is whole. */
const MAX_ARCHIVE_BYTES = 8 * 1024 * 1024;

/** The program of a command; undefined for one that needs no input and no files. */
export function fileProgram(
  command: readonly string[],
  files: ContainerFiles,
  nowMs: number,
  workingDirectory: string,
): FileProgram | undefined {
  const [word = "", ...args] = command;
  const at = (path: string): string => posix.resolve(workingDirectory, path);
  switch (word.replace(/^\/(?:usr\/)?bin\//, "")) {
    case "cat":
      if (args.length === 0 || (args.length === 1 && args[0] === "-")) return copyInput;
      return args.length === 1 ? catFile(files.read(at(args[0] ?? ""))) : undefined;
    case "test":
      if (args.length !== 2) return undefined;
      if (args[0] === "-d") return () => Promise.resolve(files.isDirectory(at(args[1] ?? "")) ? 0 : 1);
      return args[0] === "-f" ? () => Promise.resolve(files.read(at(args[1] ?? "")) ? 0 : 1) : undefined;
    case "tar":
      return tarProgram(args, files, nowMs, at);
    default:
      return undefined;
  }
}

async function copyInput({ stdin, stdout }: FileStreams): Promise<number> {
  for await (const chunk of stdin) await stdout(chunk);
  return 0;
}

/** Whether the image has another file is not known. */
function catFile(content: Uint8Array | undefined): FileProgram | undefined {
  return (
    content &&
    (async ({ stdout }) => {
      await stdout(content);
      return 0;
    })
  );
}

/** `tar -xmf - -C DIR` with an archive as input, and `tar cf - PATH` with one as output. */
function tarProgram(
  args: readonly string[],
  files: ContainerFiles,
  nowMs: number,
  at: (path: string) => string,
): FileProgram | undefined {
  const plain = args.filter((arg) => !arg.startsWith("--"));
  const [flags = "", input, ...rest] = plain;
  const letters = flags.replace(/^-/, "");
  if (input !== "-" || !letters.endsWith("f")) return undefined;
  if (/^xm?p?f$/.test(letters)) {
    if (rest.length > 0 && (rest[0] !== "-C" || rest.length !== 2)) return undefined;
    return (streams) => extract(files, at(rest[1] ?? "."), streams);
  }
  const [path = ""] = rest;
  const found = letters === "cf" && rest.length === 1 ? files.below(at(path)) : [];
  return found.length > 0 ? (streams) => archive(files, found, nowMs, streams) : undefined;
}

async function extract(files: ContainerFiles, directory: string, { stdin, err }: FileStreams): Promise<number> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    bytes += chunk.length;
    if (bytes > MAX_ARCHIVE_BYTES) {
      await err(`tar: simulated containers keep archives up to ${MAX_ARCHIVE_BYTES / 1024 / 1024} MiB\n`);
      return 2;
    }
    parts.push(chunk);
  }
  try {
    for (const { path, content, isDirectory } of readTar(Buffer.concat(parts))) {
      // A path that leaves the directory stays below the root: there is nothing else to overwrite.
      const target = posix.resolve("/", directory, posix.join("/", path).slice(1));
      if (isDirectory || files.write(target, Buffer.from(content))) continue;
      await err(`tar: ${path}: No space left on device\n`);
      return 2;
    }
  } catch (error) {
    await err(`tar: ${messageOf(error)}\n`);
    return 2;
  }
  return 0;
}

async function archive(
  files: ContainerFiles,
  paths: readonly string[],
  nowMs: number,
  { stdout }: FileStreams,
): Promise<number> {
  const entries = paths.map((path) => ({ path: path.slice(1), content: files.read(path) ?? new Uint8Array() }));
  await stdout(writeTar(entries, nowMs));
  return 0;
}
