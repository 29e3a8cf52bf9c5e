/**
 * Files that were copied into simulated containers with `kubectl cp`, so that they can be read again. They are in memory
 * only, and the oldest containers lose theirs first.
 */

/** Files of one container. */
const MAX_CONTAINER_BYTES = 4 * 1024 * 1024;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 1000;

export interface ContainerFiles {
  /** False when there is no room. */
  write(path: string, content: Uint8Array): boolean;
  read(path: string): Uint8Array | undefined;
  /** The file, or the files below the directory. */
  below(path: string): readonly string[];
  isDirectory(path: string): boolean;
}

interface Stored {
  readonly files: Map<string, Uint8Array>;
  bytes: number;
}

export class SimulatedFiles {
  /** By the pod's uid and the container; those used last come last. */
  readonly #containers = new Map<string, Stored>();
  #bytes = 0;

  of(podUid: string, container: string): ContainerFiles {
    const key = `${podUid}/${container}`;
    const stored = (): Stored | undefined => this.#containers.get(key);
    return {
      write: (path, content) => this.#write(key, path, content),
      read: (path) => stored()?.files.get(path),
      below: (path) =>
        [...(stored()?.files.keys() ?? [])].filter(
          (file) => file === path || file.startsWith(`${path === "/" ? "" : path}/`),
        ),
      isDirectory: (path) =>
        path === "/" ||
        path === "/tmp" ||
        [...(stored()?.files.keys() ?? [])].some((file) => file.startsWith(`${path}/`)),
    };
  }

  #write(key: string, path: string, content: Uint8Array): boolean {
    const stored = this.#containers.get(key) ?? { files: new Map<string, Uint8Array>(), bytes: 0 };
    const before = stored.files.get(path)?.length ?? 0;
    if (stored.bytes - before + content.length > MAX_CONTAINER_BYTES || stored.files.size >= MAX_FILES) return false;
    stored.files.set(path, content);
    stored.bytes += content.length - before;
    this.#bytes += content.length - before;
    this.#containers.delete(key);
    this.#containers.set(key, stored);
    for (const [oldest, { bytes }] of this.#containers) {
      if (this.#bytes <= MAX_BYTES || oldest === key) break;
      this.#containers.delete(oldest);
      this.#bytes -= bytes;
    }
    return true;
  }
}
