/** A small file system that can be filled. It needs the right to mount; without it nothing is filled. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

export interface Disk {
  path: string;
  canFill: boolean;
  fill(): void;
  free(): void;
  remove(): void;
}

const CHUNK = Buffer.alloc(1024 * 1024);

export function createDisk(path: string, sizeMib: number): Disk {
  mkdirSync(path, { recursive: true });
  const canFill = mount(path, sizeMib);
  const filler = join(path, "filler");
  return {
    path,
    canFill,
    fill() {
      if (!canFill) return;
      const file = openSync(filler, "w");
      try {
        // The last writes are short: nothing is left.
        for (let size = CHUNK.length; size >= 1;) {
          try {
            writeSync(file, CHUNK, 0, size);
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
            size = Math.floor(size / 2);
          }
        }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    remove() {
      if (canFill) execFileSync("umount", ["--lazy", path]);
    },
  };
}

function mount(path: string, sizeMib: number): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${sizeMib}m`, "tmpfs", path], { stdio: "ignore" });
    return true;
  } catch {
    return false; // Not an administrator, or not Linux.
  }
}
