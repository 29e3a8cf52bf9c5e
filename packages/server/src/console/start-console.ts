/** Composes a console in front of a hub that a kubeconfig names, and serves it on loopback. */
import { dirname, resolve } from "node:path";
import { systemClock, systemRandom } from "@flotilla/base";
import type { Log } from "@flotilla/base";
import type { KubeconfigAccess } from "@flotilla/cli";
import { connect } from "../connect.ts";
import { createConsole } from "./console.ts";
import { serveConsole } from "./serve-console.ts";
import type { ServedConsole } from "./serve-console.ts";

interface StartConsoleOptions {
  access: KubeconfigAccess;
  /** 0 takes a free port. */
  port: number;
  log: Log;
}

/** Every session has the rights of the kubeconfig; the browser never sees its credentials. */
export async function startConsole({ access, port, log }: StartConsoleOptions): Promise<ServedConsole> {
  const connection = await connect(access, () => {});
  const served = createConsole({
    signIn: { connection },
    scheme: "http",
    hosts: new Set(),
    // Beside the kubeconfig that `flotilla up` writes; elsewhere the checks of that folder report that it is not here.
    data: dirname(resolve(access.kubeconfigs[0] ?? ".")),
    clock: systemClock,
    random: systemRandom,
    log,
  });
  try {
    return await serveConsole(served, { port, log });
  } catch (error) {
    await connection.close();
    throw error;
  }
}
