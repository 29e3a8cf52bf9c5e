/** The port of a hub: a taken one is the first thing that goes wrong for people, who are told what to type. */
import { createServer } from "node:net";
import { ListenError } from "../apiserver/index.ts";
import type { HttpServer } from "../apiserver/index.ts";

export const HOST = "127.0.0.1";

/**
 * Throws when somebody listens there; meant for before anything is made, so that a start that cannot be leaves nothing
 * behind.
 */
export async function refuseTakenPort(port: number): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  const tried = Promise.withResolvers<NodeJS.ErrnoException | undefined>();
  server.once("error", tried.resolve);
  server.listen(port, HOST, () => tried.resolve(undefined));
  const error = await tried.promise;
  if (isTaken(error)) throw taken(port);
  // Whatever else is wrong with it is said by the server that is to listen there.
  await new Promise<void>((resolve) => void server.close(() => resolve()));
}

/** Resolves with the port that it became. */
export async function listen(http: HttpServer, port: number): Promise<number> {
  try {
    return (await http.listen(port, HOST)).port;
  } catch (error) {
    throw error instanceof ListenError && isTaken(error.cause) ? taken(port) : error;
  }
}

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException | undefined)?.code === "EADDRINUSE";
/** Without its cause, which says the same in the system's words. */
const taken = (port: number): ListenError =>
  new ListenError(
    `port ${port} of ${HOST} is taken; choose another with --port P (0 takes any that is free), or stop what listens there`,
  );
