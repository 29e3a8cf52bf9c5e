/** Which process has made a connection to this machine. Linux only, because it reads /proc. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Socket } from "node:net";

export function ownerOf({ remotePort, localPort }: Socket, candidates: readonly number[]): number | undefined {
  const inode = inodeOf(hex(remotePort), hex(localPort));
  return inode === undefined ? undefined : candidates.find((pid) => has(pid, `socket:[${inode}]`));
}

const hex = (port: number | undefined): string => (port ?? 0).toString(16).toUpperCase().padStart(4, "0");

function inodeOf(local: string, remote: string): string | undefined {
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n")) {
    const fields = line.trim().split(/\s+/);
    if (fields[1]?.endsWith(`:${local}`) && fields[2]?.endsWith(`:${remote}`)) return fields[9];
  }
  return undefined;
}

function has(pid: number, target: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((file) => pointsTo(`/proc/${pid}/fd/${file}`, target));
  } catch {
    return false; // It has ended.
  }
}

function pointsTo(file: string, target: string): boolean {
  try {
    return readlinkSync(file) === target;
  } catch {
    return false; // It was closed meanwhile.
  }
}
