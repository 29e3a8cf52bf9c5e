/** What doctor reads from this machine and its network: the certificate a server presents, disks and files. */
import type { Stats } from "node:fs";
import { readFile, stat, statfs } from "node:fs/promises";
import { isIP } from "node:net";
import { connect } from "node:tls";
import { FlotillaError } from "@flotilla/base";
import { lastStartPath, parseLastStart } from "../data-directory.ts";
import type { LastStart } from "../data-directory.ts";

export interface LocalEnvironment {
  /** The certificate that a server presents, in DER; it is not trusted. */
  servingCertificate(server: URL, signal: AbortSignal): Promise<Uint8Array>;
  /** Bytes; undefined when there is no such file. */
  fileSize(path: string): Promise<number | undefined>;
  /** When a file was last written; undefined when there is no such file. */
  writtenMs(path: string): Promise<number | undefined>;
  /** How the hub of a data directory was last started; undefined when that is not recorded. */
  lastStart(data: string): Promise<LastStart | undefined>;
  /** Bytes of the disk that a folder is on. */
  diskSpace(folder: string): Promise<{ free: number; total: number }>;
}

export const localEnvironment: LocalEnvironment = {
  servingCertificate(server, signal) {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const { hostname, port } = server;
      const host = hostname.replace(/^\[|\]$/g, "");
      // Only the certificate is read and nothing is sent; clients that send data verify the server themselves.
      const socket = connect(
        {
          host,
          port: Number(port || 443),
          rejectUnauthorized: false,
          ALPNProtocols: ["h2", "http/1.1"],
          servername: isIP(host) === 0 ? host : undefined,
        },
        () => {
          const { raw } = socket.getPeerCertificate();
          socket.destroy();
          if (raw) resolve(raw);
          else reject(new FlotillaError("Unreachable", `${server.host} presented no certificate`));
        },
      );
      const stop = (): void => void socket.destroy(signal.reason as Error);
      signal.addEventListener("abort", stop, { once: true });
      socket.once("error", reject);
      socket.once("close", () => signal.removeEventListener("abort", stop));
    });
  },
  fileSize: async (path) => (await statIfThere(path))?.size,
  writtenMs: async (path) => (await statIfThere(path))?.mtimeMs,
  async lastStart(data) {
    const path = lastStartPath(data);
    return (await statIfThere(path)) ? parseLastStart(await readFile(path, "utf8")) : undefined;
  },
  async diskSpace(folder) {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { free: bavail * bsize, total: blocks * bsize };
  },
};

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
