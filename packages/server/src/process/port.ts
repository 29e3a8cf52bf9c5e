/** The port of a hub. A port that is taken is the most common failure of a start, so the error says what to type. */
import { createServer } from "node:net";
import { ListenError } from "@flotilla/apiserver";
import type { HttpServer } from "@flotilla/apiserver";

/** Throws when another process listens there. Called before anything is created, so that a failed start leaves nothing behind. */
export async function refuseTakenPort(port: number, host: string): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  const tried = Promise.withResolvers<NodeJS.ErrnoException | undefined>();
  server.once("error", tried.resolve);
  server.listen(port, host, () => tried.resolve(undefined));
  const error = await tried.promise;
  const problem = explain(error, port, host);
  if (problem) throw problem;
  // Other errors are reported by the server that is to listen there.
  await new Promise<void>((resolve) => void server.close(() => resolve()));
}

/** Resolves with the port that is bound. */
export async function listen(http: HttpServer, port: number, host: string): Promise<number> {
  try {
    return (await http.listen(port, host)).port;
  } catch (error) {
    throw (error instanceof ListenError && explain(error.cause, port, host)) || error;
  }
}

/** Without its cause, which repeats the same in the system's words. */
function explain(error: unknown, port: number, host: string): ListenError | undefined {
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case "EADDRINUSE":
      return new ListenError(
        `port ${port} of ${host} is taken; choose another with --port P (0 takes any that is free), or stop what listens there`,
      );
    case "EADDRNOTAVAIL":
      return new ListenError(
        `${host} is not an address of this machine; give one of its own with --bind-address, or 0.0.0.0 for all of them`,
      );
    default:
      return undefined;
  }
}
