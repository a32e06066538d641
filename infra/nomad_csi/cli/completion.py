"""``nomad-csi completion``."""

from click import shell_completion

from nomad_csi import cli
from nomad_csi.cli.common import command

SHELLS = ("bash", "zsh", "fish")

ABOUT = """\
  nomad-csi completion bash > ~/.local/share/bash-completion/completions/nomad-csi
  nomad-csi completion zsh > "${fpath[1]}/_nomad-csi"
  nomad-csi completion fish > ~/.config/fish/completions/nomad-csi.fish"""


@command.command(epilog=ABOUT)
@command.argument("shell SHELL", "bash, zsh or fish", type=command.OneOf(SHELLS))
def run(arguments: command.Arguments) -> int:
    """Print the script that makes the shell complete commands, options and values."""
    if made := shell_completion.get_completion_class(arguments.shell):
        print(made(cli.PROGRAM, {}, cli.NAME, cli.COMPLETE).source())
    return 0
