/** A shell in a container. xterm is loaded when the first terminal is opened. */
import { FitAddon } from "@xterm/addon-fit";
import { Terminal as Screen } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { useEffect, useRef, useState } from "preact/hooks";
import { quoteWord } from "../../src/format.ts";
import { t } from "../i18n.ts";
import { Command } from "../parts/command.tsx";
import { colour } from "../theme.ts";
import { useRights } from "../parts/hooks.ts";

export interface TerminalProps {
  member: string;
  namespace: string;
  pod: string;
  container: string;
  close(): void;
}

const CHANNEL = { input: 0, output: 1, error: 2, result: 3, resize: 4 } as const;

export function Terminal({ member, namespace, pod, container, close }: TerminalProps) {
  const place = useRef<HTMLDivElement>(null);
  const [ended, setEnded] = useState("");
  const [command, setCommand] = useState("sh");
  const [attempt, setAttempt] = useState(0);
  const [allowed] = useRights([
    { verb: "create", group: "cluster.karmada.io", resource: "clusters", subresource: "proxy", name: member },
  ]);
  useEffect(() => {
    const parent = place.current;
    if (!parent) return;
    const screen = new Screen({
      fontFamily: colour("--mono"),
      fontSize: 13,
      cursorBlink: true,
      scrollback: 5_000,
      theme: { background: "#0d1315", foreground: "#e4e8e7", cursor: "#7cc4d4" },
      screenReaderMode: true,
    });
    const fit = new FitAddon();
    screen.loadAddon(fit);
    withNonce(() => screen.open(parent));
    fit.fit();
    const query = new URLSearchParams({ member, namespace, pod, container });
    for (const word of command.split(/\s+/)) query.append("command", word);
    const url = new URL(`exec?${query.toString()}`, location.href.split("#", 1)[0]);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    const send = (channel: number, text: string): void => {
      if (socket.readyState !== WebSocket.OPEN) return;
      const bytes = new TextEncoder().encode(text);
      const message = new Uint8Array(bytes.length + 1);
      message[0] = channel;
      message.set(bytes, 1);
      socket.send(message);
    };
    const resize = (): void => send(CHANNEL.resize, JSON.stringify({ Width: screen.cols, Height: screen.rows }));
    socket.addEventListener("open", () => {
      resize();
      screen.focus();
    });
    socket.addEventListener("message", ({ data }) => {
      const bytes = new Uint8Array(data as ArrayBuffer);
      if (bytes[0] === CHANNEL.output || bytes[0] === CHANNEL.error) screen.write(bytes.subarray(1));
      if (bytes[0] === CHANNEL.result) setEnded(resultOf(new TextDecoder().decode(bytes.subarray(1))));
    });
    socket.addEventListener("close", () => setEnded((old) => old || t("The connection ended.")));
    const typing = screen.onData((text) => send(CHANNEL.input, text));
    const sizing = screen.onResize(resize);
    const observer = new ResizeObserver(() => fit.fit());
    observer.observe(parent);
    return () => {
      observer.disconnect();
      typing.dispose();
      sizing.dispose();
      socket.close();
      screen.dispose();
    };
  }, [attempt]);
  return (
    <section class="panel terminal" aria-label={t("Terminal")}>
      <header class="controls">
        <h2>
          {t("Terminal")} · {member} · {pod}
        </h2>
        <form
          class="controls"
          onSubmit={(event) => {
            event.preventDefault();
            setEnded("");
            setAttempt((count) => count + 1);
          }}
        >
          <input
            class="mono"
            value={command}
            aria-label={t("Command")}
            onInput={({ currentTarget }) => setCommand(currentTarget.value)}
          />
          <button type="submit">{t("Run")}</button>
        </form>
        <button type="button" class="end" onClick={close}>
          {t("Close")}
        </button>
      </header>
      {allowed === false && (
        <p class="bad">
          {t("You lack the right: {right}", { right: `create clusters/proxy.cluster.karmada.io ${member}` })}
        </p>
      )}
      <div class="screen" ref={place} />
      {ended !== "" && (
        <p role="status" class="busy">
          {ended}
        </p>
      )}
      <Command
        line={`flotilla exec -it ${quoteWord(pod)} -n ${namespace} --clusters ${member} -c ${container} -- ${command}`}
      />
    </section>
  );
}

function resultOf(text: string): string {
  const status = JSON.parse(text) as { status?: string; message?: string };
  return status.status === "Success" ? t("The command ended.") : (status.message ?? t("The command failed."));
}

/** xterm creates style elements, which the content security policy allows with the nonce of the page only. */
function withNonce(run: () => void): void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
  const create = document.createElement.bind(document);
  document.createElement = (name: string, options?: ElementCreationOptions) => {
    const element = create(name, options);
    if (name === "style") element.setAttribute("nonce", nonce);
    return element;
  };
  try {
    run();
  } finally {
    document.createElement = create;
  }
}
