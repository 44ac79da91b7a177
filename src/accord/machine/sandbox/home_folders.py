"""What is in a user's home and on a system, as tables: secrets, and folders of programs.

Must not know what a sandbox is made of.  Paths are relative to the home unless they are absolute.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SECRETS: Final = _words("""
    .ssh .gnupg .password-store .netrc .authinfo .authinfo.gpg .git-credentials
    .config/git/credentials .vault-token .pgpass .my.cnf .pypirc .npmrc .yarnrc .yarnrc.yml
    .aws .azure .config/gcloud .config/gh .config/glab-cli .config/hub .config/doctl .config/op
    .docker .kube .config/containers .terraform.d .terraformrc .config/rclone .config/sops .s3cfg
    .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml
    .gradle/gradle.properties .config/pip .config/pypoetry .config/uv .local/share/uv/credentials
    .local/share/keyrings .local/share/kwalletd .kde .config/keepassxc .config/1Password
    .config/Bitwarden .mozilla .thunderbird .config/google-chrome .config/chromium
    .config/BraveSoftware .config/microsoft-edge .config/vivaldi .config/opera .config/Code
    .config/Cursor .config/Slack .config/discord .config/Signal .local/share/TelegramDesktop
    .config/autostart .config/systemd .var/app snap .electrum .bitcoin .ethereum .config/solana
    .bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history
    .local/share/fish .viminfo .lesshst
    """)
"""Hidden even where the folder around it is readable."""

SYSTEM_SECRETS: Final = _words("""
    /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssh
    /etc/ssl/private /etc/pki/tls/private /etc/letsencrypt /etc/wireguard /etc/openvpn
    /etc/NetworkManager/system-connections /etc/kubernetes /etc/rancher /etc/krb5.keytab
    /var/lib/docker /var/lib/containerd /var/lib/kubelet /var/lib/rancher /var/spool/cron
    /var/backups /var/mail /var/spool/mail /swapfile /boot/grub
    """)
"""Hidden where this process could read it: for root."""

PROGRAMS: Final = _words("""
    bin .bin .local/bin .local/lib .local/pipx .local/opt .local/share/pipx .local/share/uv
    .local/share/mise .local/share/rtx .local/share/pnpm .local/share/fnm .local/share/claude
    .local/share/npm .local/share/virtualenv .local/state/nix .local/state/fnm_multishells
    .npm .npm-global .npm-packages .nvm .fnm .volta .nodenv .n .bun .deno .asdf .mise .proto
    .pyenv .rye .pixi .conda miniconda3 anaconda3 miniforge3 .rbenv .rvm .sdkman .jenv .jabba
    .cargo .rustup go/bin .go .gvm .opam .ghcup .cabal/bin .stack .dotnet .elan .nix-profile
    .nix-defexpr .linuxbrew .yarn/bin .config/yarn/global .gitconfig .config/git
    """)
"""Readable: programs and their libraries, and git's settings, without which it cannot commit."""

SYSTEM_PROGRAMS: Final = _words("""
    /run/current-system /run/booted-system /run/wrappers /run/opengl-driver /home/linuxbrew
    """)
"""Readable in folders of the system that are hidden."""

SYSTEM_SETTINGS: Final = _words("/etc/resolv.conf /etc/hosts /etc/localtime /etc/nsswitch.conf")
"""Readable wherever these links lead: without them there are no names of hosts."""

HIDDEN_FOLDERS: Final = _words("/home /root /run /dev/shm")
"""Hidden beside the home: other homes, and what services of the system offer."""

TEMPORARY_FOLDERS: Final = _words("/tmp /var/tmp")
"""Private: everybody's files and sockets are in them."""

OUTER_VARIABLES: Final = frozenset(
    _words("""
    SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO GNOME_KEYRING_CONTROL DBUS_SESSION_BUS_ADDRESS
    DBUS_SYSTEM_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY WAYLAND_SOCKET XAUTHORITY ICEAUTHORITY
    SESSION_MANAGER XDG_RUNTIME_DIR TMUX TMUX_PANE STY NVIM NVIM_LISTEN_ADDRESS VSCODE_IPC_HOOK
    VSCODE_IPC_HOOK_CLI VSCODE_GIT_IPC_HANDLE VSCODE_GIT_ASKPASS_NODE VSCODE_GIT_ASKPASS_MAIN
    GIT_ASKPASS SSH_ASKPASS KITTY_LISTEN_ON WEZTERM_UNIX_SOCKET ALACRITTY_SOCKET SWAYSOCK I3SOCK
    """)
)
"""Variables that name what is not reached from inside; without them programs fail more clearly."""
