/** Who is there? A link of the command line, or a token of the hub. */
import { useState } from "preact/hooks";
import { t } from "./i18n.ts";
import { Command } from "./parts/command.tsx";
import { signIn } from "./session.ts";
import type { SignIn } from "./session.ts";

export function SignInPage({
  ask,
  message,
  signedIn,
}: {
  ask: "code" | "token";
  message: string;
  signedIn(state: SignIn): void;
}) {
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  return (
    <main class="sign-in">
      <h1>Flotilla</h1>
      {message !== "" && <p role="alert">{message}</p>}
      {ask === "code" ? (
        <>
          <p>{t("Sign in with a link that works once. This command prints one:")}</p>
          <Command line="flotilla ui --open" />
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            setBusy(true);
            void signIn({ token }).then((state) => {
              setBusy(false);
              setToken("");
              signedIn(state);
            });
          }}
        >
          <p>{t("Sign in with a token of the hub. It stays on the server, and is gone when you sign out.")}</p>
          <label>
            {t("Token")}
            <input
              type="password"
              autocomplete="off"
              value={token}
              onInput={({ currentTarget: { value } }) => setToken(value)}
            />
          </label>
          <button type="submit" class="primary" disabled={busy || token === ""}>
            {t("Sign in")}
          </button>
          <p class="muted">{t("A token of a service account:")}</p>
          <Command line="kubectl create token NAME -n NAMESPACE" />
        </form>
      )}
    </main>
  );
}
