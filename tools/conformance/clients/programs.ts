/** The installed clients, and how each is started. */
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const CLIENTS_DIRECTORY = process.env["CLIENTS_DIR"] ?? join(homedir(), ".cache/flotilla/clients");

/** The same checks with libraries before and after the served version. */
export const GO_CLIENTS = [
  { name: "client-go 0.35 and controller-runtime 0.23", modfile: "go.mod", program: "clients" },
  { name: "client-go 0.37 and controller-runtime 0.25", modfile: "next.mod", program: "clients-next" },
] as const;

export interface Client {
  /** `kubectl 1.30.0`. */
  name: string;
  /** The script of shell checks, or a program that prints `ok NAME` and `failed NAME: reason`. */
  start: { script: "kubectl" | "helm"; program: string } | { program: string; args: readonly string[] };
}

/** What cannot run here, with the reason. */
export interface Absent {
  name: string;
  reason: string;
}

export function findClients(): { clients: Client[]; absent: Absent[] } {
  const clients: Client[] = [];
  const absent: Absent[] = [];
  const files = existsSync(CLIENTS_DIRECTORY) ? readdirSync(CLIENTS_DIRECTORY) : [];
  for (const script of ["kubectl", "helm"] as const) {
    const found = files.filter((file) => new RegExp(`^${script}-[\\d.]+$`).test(file)).sort(byVersion);
    if (found.length === 0) absent.push({ name: script, reason: `${CLIENTS_DIRECTORY} has no ${script}-VERSION` });
    for (const file of found)
      clients.push({ name: file.replace("-", " "), start: { script, program: join(CLIENTS_DIRECTORY, file) } });
  }
  const add = (name: string, needed: string, program: string, args: readonly string[]): void => {
    if (existsSync(join(CLIENTS_DIRECTORY, needed))) clients.push({ name, start: { program, args } });
    else absent.push({ name, reason: `${join(CLIENTS_DIRECTORY, needed)} does not exist` });
  };
  const at = (path: string): string => join(CLIENTS_DIRECTORY, path);
  for (const { name, program } of GO_CLIENTS) add(name, `go/${program}`, at(`go/${program}`), []);
  add("Python client", "python/bin/python", at("python/bin/python"), [join(import.meta.dirname, "python/client.py")]);
  add("@kubernetes/client-node", "node/node_modules", process.execPath, [at("node/client.mjs")]);
  add("Java client", "java/target/lib", "java", [
    "-cp",
    `${at("java/target/classes")}:${at("java/target/lib")}/*`,
    "Client",
  ]);
  return { clients, absent };
}

const byVersion = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });
