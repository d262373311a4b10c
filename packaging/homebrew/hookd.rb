# The formula of a tap; `make package` fills in the version and the checksum.
class Hookd < Formula
  desc "Runs people's hooks for AI agents"
  homepage "https://github.com/hookd/hookd"
  url "https://github.com/hookd/hookd/releases/download/v@VERSION@/hookd-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "go" => :build

  def install
    ENV["CGO_ENABLED"] = "0"
    %w[hookd hookd-bridge hookd-fleet].each do |name|
      entry = (name == "hookd-bridge") ? Utils.safe_popen_read("sh", "packaging/entry.sh").strip : ""
      system "go", "build", "-trimpath", *std_go_args(ldflags: "-s -w -X main.version=#{version} #{entry}", output: bin/name), "./cmd/#{name}"
    end
    generate_completions_from_executable(bin/"hookd", "completion", shells: [:bash, :zsh, :fish])
    doc.install Dir["docs/*.md"], "docs/reference/openapi.yaml", "docs/design/decisions"
    system "go", "run", "./packaging/gallery", doc/"gallery" # each hook whole
  end

  # Hooks need the programs that Homebrew installs; launchd's own PATH has none
  # of them. Agents wait for hooks, so they are not throttled.
  service do
    run [opt_bin/"hookd", "serve"]
    environment_variables PATH: std_service_path_env
    keep_alive successful_exit: false
    process_type :interactive
    error_log_path var/"log/hookd.log"
  end

  test do
    ENV["LIBREFANG_HOME"] = testpath
    assert_match version.to_s, shell_output("#{bin}/hookd version")
    (testpath/"hooks/hello/HOOK.yaml").write <<~YAML
      name: hello
      events: agent:end
      type: script
      script: echo hello
    YAML
    assert_match "hello", shell_output("#{bin}/hookd validate")
  end
end
