/**
 * Where the texts of `flotilla interpret` come from: files, folders, patterns, addresses, and `-` for standard input,
 * as kubectl takes them behind `-f`.
 */
import { existsSync, globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { FlotillaError, UsageError } from "../../base/index.ts";

/** A text and what people call it. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

export interface Reach {
  /** To the end of standard input, which can be read once. */
  readInput(): Promise<string>;
  /** The body that an address answers with. */
  download(url: string): Promise<string>;
}

/** A file of rules or fixtures that is larger is a mistake: an API server takes no object of more than 3 MiB. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_FILES = 10_000;
/** The files that a folder is read for; a file that is named itself may be called anything. */
const EXTENSIONS = [".json", ".yaml", ".yml"];

/** The command could not read what it was given. */
export class SourceError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Source", message, options);
  }
}

/** Reads in the order of the names; files of a folder in the order of the alphabet. */
export class Sources {
  readonly #reach: Reach;
  #inputIsTaken = false;

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  async read(names: readonly string[], { recursive = false }: { recursive?: boolean } = {}): Promise<Source[]> {
    const sources: Source[] = [];
    for (const name of names.flatMap(separate)) sources.push(...(await this.#readOne(name, recursive)));
    return sources;
  }

  async #readOne(name: string, recursive: boolean): Promise<Source[]> {
    if (name === "-") return [{ name: "STDIN", text: await this.#input() }];
    if (/^https?:\/\//.test(name)) return [{ name, text: await this.#reach.download(name) }];
    return filesOf(name, recursive).map((file) => ({ name: file, text: readText(file) }));
  }

  #input(): Promise<string> {
    if (this.#inputIsTaken) throw new UsageError("standard input (-) can be read once only; give the others as files");
    this.#inputIsTaken = true;
    return this.#reach.readInput();
  }
}

/** kubectl takes several names with commas between; a file whose name has a comma is still found. */
const separate = (name: string): string[] =>
  name.includes(",") && !/^https?:/.test(name) && !existsSync(name) ? name.split(",") : [name];

function filesOf(name: string, recursive: boolean): string[] {
  const files = expand(name).flatMap((path) => (statSync(path).isDirectory() ? filesIn(path, recursive) : [path]));
  if (files.length === 0)
    throw new SourceError(
      `reading ${name}: no file there ends in ${EXTENSIONS.join(", ")}${recursive ? "" : "; --recursive also looks in its folders"}`,
    );
  if (files.length > MAX_FILES) throw new SourceError(`reading ${name}: more than ${MAX_FILES} files`);
  return files;
}

/** A name that is no file may be a pattern which the shell did not expand. */
function expand(name: string): string[] {
  if (statSync(name, { throwIfNoEntry: false })) return [name];
  const matches = globSync(name).toSorted();
  if (matches.length === 0) throw new SourceError(`the path ${JSON.stringify(name)} does not exist`);
  return matches;
}

function filesIn(folder: string, recursive: boolean): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return recursive ? filesIn(path, recursive) : [];
    return EXTENSIONS.some((extension) => entry.name.endsWith(extension)) ? [path] : [];
  });
}

function readText(file: string): string {
  try {
    if (statSync(file).size > MAX_FILE_BYTES)
      throw new SourceError(`reading ${file}: it is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError(`reading ${file}`, { cause: error });
  }
}

/** Downloads with a bound on time and size. */
export async function download(url: string, signal: AbortSignal): Promise<string> {
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(DOWNLOAD_LIMIT_MS)]) });
    if (!response.ok)
      throw new SourceError(`reading ${url}: the server answered ${response.status} ${response.statusText}`);
    return await boundedText(response, url);
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError(`reading ${url}`, { cause: error });
  }
}

const DOWNLOAD_LIMIT_MS = 30_000;

async function boundedText(response: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_FILE_BYTES)
      throw new SourceError(`reading ${url}: it is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
