/** What an action did, with the command that does the same. It closes by itself, unless it is an error. */
import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n.ts";
import { Command } from "./command.tsx";

export interface Toast {
  text: string;
  line?: string;
  bad?: boolean;
}

const SHOWN_MS = 6_000;
let listener: (toast: Toast) => void = () => {};
export const showToast = (toast: Toast): void => listener(toast);

export function Toasts() {
  const [toasts, setToasts] = useState<readonly (Toast & { id: number })[]>([]);
  useEffect(() => {
    let id = 0;
    listener = (toast) => {
      const added = { ...toast, id: ++id };
      setToasts((old) => [...old.slice(-2), added]);
      if (!toast.bad) setTimeout(() => setToasts((old) => old.filter((each) => each.id !== added.id)), SHOWN_MS);
    };
    return () => void (listener = () => {});
  }, []);
  return (
    <div class="toasts" aria-live="polite">
      {toasts.map((toast) => (
        <div key={toast.id} class={`toast ${toast.bad ? "bad" : ""}`} role={toast.bad ? "alert" : "status"}>
          <p>{toast.text}</p>
          {toast.line && <Command line={toast.line} />}
          <button
            type="button"
            class="quiet"
            onClick={() => setToasts((old) => old.filter((each) => each.id !== toast.id))}
          >
            {t("dismiss")}
          </button>
        </div>
      ))}
    </div>
  );
}
