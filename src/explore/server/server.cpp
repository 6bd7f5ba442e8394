/// @file Two addresses, the page and its answers, over cpp-httplib; who may ask is decided before anything else.
#include "explore/server/server.hpp"

#include <httplib.h>

#include <chrono>
#include <random>
#include <thread>

#include "base/error.hpp"
#include "base/json.hpp"
#include "explore/answer.hpp"
#include "explore/page.hpp"

namespace auspex::explore {
namespace {

constexpr std::size_t kMostBytes = 256 * 1024;  // of a request
constexpr std::size_t kThreads = 12;            // a browser holds up to six connections
constexpr const char* kLoopback = "127.0.0.1";
constexpr const char* kJson = "application/json";

std::string new_token() {
    std::random_device device;  // the system's
    std::string token;
    for (int i = 0; i < 32; ++i) {
        token += "0123456789abcdef"[device() & 15U];
    }
    return token;
}

/// In a time that does not tell how much of it is right.
bool is_same(std::string_view a, std::string_view b) {
    unsigned different = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        different |= static_cast<unsigned>(a[i] ^ b[i]);
    }
    return different == 0;
}

/// "localhost:8080" without its port. A page of another name that resolves to this computer keeps its own.
bool is_loopback_host(const std::string& host) {
    const std::string name = host.substr(0, host.find(':'));
    return name == kLoopback || name == "localhost";
}

bool may_ask(const httplib::Request& request, const std::string& token) {
    const std::string start = "/" + token + "/";
    const std::string host = request.get_header_value("Host");
    const std::string origin = request.get_header_value("Origin");
    return is_same(request.path.substr(0, start.size()), start) && request.get_header_value_count("Host") == 1 &&
           is_loopback_host(host) && (origin.empty() || origin == "http://" + host);
}

/// Through a provider of known length, for other bodies would be compressed, which takes longer than a step.
void reply(httplib::Response& response, int status, std::string body, const char* type) {
    response.status = status;
    const std::size_t length = body.size();
    response.set_content_provider(
        length, type, [text = std::move(body)](std::size_t offset, std::size_t count, httplib::DataSink& sink) {
            return sink.write(text.data() + offset, count);
        });
}

void refuse(httplib::Response& response, int status, const std::string& message) {
    reply(response, status, "{\"error\":{\"message\":" + json_quote(message) + "}}", kJson);
}

void set_limits(httplib::Server& server) {
    server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server.set_payload_max_length(kMostBytes);
    server.set_keep_alive_max_count(1'000'000);
    server.set_keep_alive_timeout(2);  // the end waits for connections that are kept
    server.set_read_timeout(5);
    server.set_write_timeout(5);
    server.set_tcp_nodelay(true);
    server.set_socket_options([](socket_t socket) {
        const int yes = 1;  // not SO_REUSEPORT, with which another program could listen, too
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server.set_default_headers(
        {{"Cache-Control", "no-store"},
         {"Referrer-Policy", "no-referrer"},  // the address has the token
         {"X-Content-Type-Options", "nosniff"},
         {"Cross-Origin-Resource-Policy", "same-origin"},
         {"Content-Security-Policy",
          "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri "
          "'none'; form-action 'none'; frame-ancestors 'none'"}});
}

void set_answers(httplib::Server& server, Session& session, const State& start, const std::string& token) {
    server.set_pre_routing_handler([token](const httplib::Request& request, httplib::Response& response) {
        if (may_ask(request, token)) {
            return httplib::Server::HandlerResponse::Unhandled;
        }
        refuse(response, 403,
               "found a request without this run's token, or of another host; expected the address "
               "that auspex explore printed");
        return httplib::Server::HandlerResponse::Handled;
    });
    server.Get("/" + token + "/",
               [page = explore_page(start, "")](const httplib::Request&, httplib::Response& response) {
                   reply(response, 200, page, "text/html; charset=utf-8");
               });
    server.Post("/" + token + "/answer", [&session](const httplib::Request& request, httplib::Response& response) {
        if (request.get_header_value("Content-Type") != kJson) {
            return refuse(response, 400, "request: found another Content-Type; expected application/json");
        }
        Answer found = answer(session, request.body);
        reply(response, found.status, std::move(found.body), kJson);
    });
    server.set_error_handler([](const httplib::Request&, httplib::Response& response) {
        if (!response.content_provider_ && response.body.empty()) {
            const int status = response.status;
            refuse(response, status,
                   status == 404   ? "found no such address; expected that of the page, or answer behind it"
                   : status == 413 ? "found a request of more than 256 KiB; expected less"
                                   : "found no request that can be read; expected HTTP");
        }
    });
}

}  // namespace

void serve(Session& session, const State& start, int port, const std::function<void(const Served&)>& ready,
           const std::function<bool()>& ends) {
    Served served;
    served.token = new_token();
    httplib::Server server;
    set_limits(server);
    set_answers(server, session, start, served.token);
    if (port == 0) {
        served.port = server.bind_to_any_port(kLoopback);
    } else {
        served.port = server.bind_to_port(kLoopback, port) ? port : -1;
    }
    if (served.port <= 0) {
        throw InputError("--port " + std::to_string(port),
                         "found a port that cannot be listened on; expected one that is free, or 0 for any");
    }
    served.address = std::string("http://") + kLoopback + ":" + std::to_string(served.port) + "/" + served.token + "/";
    std::thread listener([&] { server.listen_after_bind(); });
    while (!server.is_running()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ready(served);
    while (!ends()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    server.stop();
    listener.join();
}

}  // namespace auspex::explore
