/** The client side of SOCKS5 (RFC 1928) with optional user and password (RFC 1929). */
import type { Socket } from "node:net";
import { UnreachableError } from "./errors.ts";

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const USER_AND_PASSWORD = 2;
const CONNECT = 1;
const DOMAIN = 3;

const REFUSALS: Readonly<Record<number, string>> = {
  1: "it failed",
  2: "its rules do not allow it",
  3: "the network is unreachable",
  4: "the host is unreachable",
  5: "the connection was refused",
  6: "the TTL expired",
  7: "the command is not supported",
  8: "the address type is not supported",
};
/** The length of an address by its type; a domain starts with its length. */
const ADDRESS_BYTES: Readonly<Record<number, number>> = { 1: 4, 4: 16 };

/** Resolves when the socket is connected to the target; the target's first bytes are still in the socket. */
export async function handshakeSocks5(
  socket: Socket,
  { host, port }: { host: string; port: number },
  credentials: { user: string; password: string } | undefined,
  stop: AbortSignal,
): Promise<void> {
  const methods = credentials ? [NO_AUTHENTICATION, USER_AND_PASSWORD] : [NO_AUTHENTICATION];
  socket.write(Buffer.from([VERSION, methods.length, ...methods]));
  const [version, method] = await read(socket, 2, stop);
  if (version !== VERSION) throw new UnreachableError("it is not a SOCKS5 proxy");
  if (method === USER_AND_PASSWORD && credentials) {
    socket.write(
      Buffer.concat([Buffer.from([1]), counted(credentials.user, "user"), counted(credentials.password, "password")]),
    );
    const [, verdict] = await read(socket, 2, stop);
    if (verdict !== 0) throw new UnreachableError("it rejected the user and password of its URL");
  } else if (method !== NO_AUTHENTICATION)
    throw new UnreachableError("it requires a user and password; set them in its URL");

  // IP addresses are sent as names too: proxies parse them, and one form is enough.
  socket.write(
    Buffer.concat([
      Buffer.from([VERSION, CONNECT, 0, DOMAIN]),
      counted(host, "host"),
      Buffer.from([port >> 8, port & 0xff]),
    ]),
  );
  const [, reply = 1, , type = 0] = await read(socket, 4, stop);
  if (reply !== 0)
    throw new UnreachableError(`it could not connect to ${host}:${port}: ${REFUSALS[reply] ?? `reply ${reply}`}`);
  const length = ADDRESS_BYTES[type] ?? (type === DOMAIN ? (await read(socket, 1, stop))[0] : undefined);
  if (length === undefined) throw new UnreachableError("it replied with an unknown address type");
  await read(socket, length + 2, stop);
}

function counted(text: string, what: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length > 255) throw new UnreachableError(`the ${what} is longer than SOCKS5 allows`);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

/** Reads exactly this many bytes; the rest stays in the socket. */
function read(socket: Socket, length: number, stop: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      socket.off("readable", onReadable).off("error", fail).off("close", closed);
      stop.removeEventListener("abort", abort);
      finish();
    };
    const onReadable = (): void => {
      const bytes = socket.read(length) as Buffer | null;
      if (bytes) settle(() => resolve(bytes));
    };
    const fail = (error: Error): void => settle(() => reject(error));
    const closed = (): void => fail(new UnreachableError("it closed the connection"));
    const abort = (): void => fail(stop.reason as Error);
    socket.on("readable", onReadable).on("error", fail).on("close", closed);
    stop.addEventListener("abort", abort, { once: true });
    if (stop.aborted) abort();
    else onReadable();
  });
}
