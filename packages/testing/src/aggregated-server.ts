/** An aggregated API server on loopback: answers by path, and remembers who asked. */
import https from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";

export interface AskedRequest {
  method: string;
  path: string;
  /** The common name of the client certificate; empty without one that is trusted. */
  by: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface AggregatedServer {
  readonly port: number;
  /** Base64-encoded PEM of the CA that signed the server's certificate. */
  readonly caBundle: string;
  readonly asked: AskedRequest[];
  close(): void;
}

export interface AggregatedAnswers {
  /** PEM of the CA whose client certificates are trusted. */
  clientCa: string;
  /** The host names of the certificate. */
  names: readonly string[];
  answer(request: AskedRequest, response: ServerResponse): void;
  upgrade?(request: AskedRequest, socket: Duplex, head: Buffer): void;
}

export async function startAggregatedServer(answers: AggregatedAnswers): Promise<AggregatedServer> {
  const authority = await createCertificateAuthority({ clock: systemClock });
  const { certificate, key } = await authority.issueServing(answers.names);
  const asked: AskedRequest[] = [];
  const noted = (incoming: IncomingMessage, body: string): AskedRequest => {
    const socket = incoming.socket as TLSSocket;
    const { subject } = socket.authorized ? socket.getPeerCertificate() : {};
    const request = {
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      by: subject?.CN ?? "",
      headers: incoming.headers,
      body,
    };
    asked.push(request);
    return request;
  };
  const server = https.createServer(
    { cert: certificate, key, ca: answers.clientCa, requestCert: true, rejectUnauthorized: false },
    (incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => answers.answer(noted(incoming, Buffer.concat(chunks).toString()), response));
    },
  );
  server.on("upgrade", (incoming, socket, head) => {
    if (answers.upgrade) answers.upgrade(noted(incoming, ""), socket, head);
    else socket.destroy();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    asked,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
