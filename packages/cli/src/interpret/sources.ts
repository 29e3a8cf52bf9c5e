/**
 * The inputs of `flotilla interpret`: files, folders, patterns, URLs, and `-` for standard input, as kubectl accepts
 * them for `-f`.
 */
import { existsSync, globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { FlotillaError, UsageError } from "@flotilla/base";

/** A text and its display name. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

export interface Reach {
  /** Reads standard input to its end; possible only once. */
  readInput(): Promise<string>;
  /** The response body of a URL. */
  download(url: string): Promise<string>;
}

/** A larger file of rules or fixtures is a mistake: an API server accepts no object of more than 3 MiB. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_FILES = 10_000;
/** The extensions read from a folder; a file that is named directly may have any name. */
const EXTENSIONS = [".json", ".yaml", ".yml"];

/** An input could not be read. */
export class SourceError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Source", message, options);
  }
}

/** Reads in the order of the names; files of a folder alphabetically. */
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
    if (this.#inputIsTaken)
      throw new UsageError("standard input (-) can be read only once; pass the other inputs as files");
    this.#inputIsTaken = true;
    return this.#reach.readInput();
  }
}

/** kubectl accepts comma-separated names; a file whose name contains a comma is still found. */
const separate = (name: string): string[] =>
  name.includes(",") && !/^https?:/.test(name) && !existsSync(name) ? name.split(",") : [name];

function filesOf(name: string, recursive: boolean): string[] {
  const files = expand(name).flatMap((path) => (statSync(path).isDirectory() ? filesIn(path, recursive) : [path]));
  if (files.length === 0)
    throw new SourceError(
      `reading ${name}: no file there ends in ${EXTENSIONS.join(", ")}${recursive ? "" : "; use --recursive to read subfolders"}`,
    );
  if (files.length > MAX_FILES) throw new SourceError(`reading ${name}: more than ${MAX_FILES} files`);
  return files;
}

/** A name that is not a file may be a pattern that the shell did not expand. */
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
      throw new SourceError(`reading ${file}: larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError(`reading ${file}`, { cause: error });
  }
}

/** Downloads with a limit on time and size. */
export async function download(url: string, signal: AbortSignal): Promise<string> {
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(DOWNLOAD_LIMIT_MS)]) });
    if (!response.ok)
      throw new SourceError(`reading ${url}: the server returned ${response.status} ${response.statusText}`);
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
    if (size > MAX_FILE_BYTES) throw new SourceError(`reading ${url}: larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
