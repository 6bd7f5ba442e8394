/// @file Who is answered: those who know the token, by a name of this computer.
#include "explore/server/server.hpp"

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <thread>

#include "base/error.hpp"
#include "explore_fixture.hpp"

namespace auspex::explore {
namespace {

/// A server in a thread of its own.
class Serving {
 public:
    Serving() : session_(library_of_the_repository()) {
        const State start{{"aurora", "optimus", "mula-7b-a1b", "mula-7b-a1b"}, 48, {}};
        thread_ = std::thread([this, start] {
            serve(
                session_, start, 0,
                [this](const Served& served) {
                    served_ = served;
                    is_ready_ = true;
                },
                [this] { return ends_.load(); });
        });
        while (!is_ready_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    ~Serving() {
        ends_ = true;
        thread_.join();
    }
    [[nodiscard]] const Served& served() const { return served_; }
    [[nodiscard]] httplib::Client client() const { return httplib::Client("127.0.0.1", served_.port); }
    [[nodiscard]] std::string path() const { return "/" + served_.token + "/"; }

 private:
    Session session_;
    Served served_;
    std::atomic<bool> is_ready_{false}, ends_{false};
    std::thread thread_;
};

TEST(Server, gives_the_page_and_answers_to_those_who_have_the_token) {
    const Serving serving;
    httplib::Client client = serving.client();
    const auto page = client.Get(serving.path());
    ASSERT_TRUE(page);
    EXPECT_EQ(page->status, 200);
    EXPECT_NE(page->body.find("\"workload\": \"mula-7b-a1b\""), std::string::npos);
    EXPECT_EQ(page->get_header_value("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(page->body.find("http://"), page->body.find("http://www.w3.org/2000/svg"));  // it loads nothing
    const auto step = client.Post(serving.path() + "answer", request_of("step", "mula-7b-a1b", 48), "application/json");
    ASSERT_TRUE(step);
    EXPECT_EQ(step->status, 200);
    EXPECT_EQ(step->body.find("{\"command\":"), 0U);
}

TEST(Server, refuses_others) {
    const Serving serving;
    httplib::Client client = serving.client();
    EXPECT_EQ(serving.served().token.size(), 32U);
    std::string wrong = serving.path();
    wrong[5] = wrong[5] == '0' ? '1' : '0';
    const std::string cut = "/" + serving.served().token.substr(1) + "/";
    for (const std::string& path : {std::string("/"), std::string("/index.html"), wrong, cut, "/x" + serving.path()}) {
        EXPECT_EQ(client.Get(path)->status, 403) << path;
        EXPECT_EQ(client.Post(path + "answer", request_of("step", "mula-7b-a1b", 48), "application/json")->status, 403);
    }
    EXPECT_EQ(client.Get(serving.path(), {{"Host", "attacker.example"}})->status, 403);
    EXPECT_EQ(client.Get(serving.path(), {{"Host", "127.0.0.1.attacker.example:80"}})->status, 403);
    EXPECT_EQ(client.Get(serving.path(), {{"Host", "localhost:9999"}})->status, 200);  // through a tunnel
    EXPECT_EQ(client.Get(serving.path(), {{"Origin", "http://attacker.example"}})->status, 403);
}

TEST(Server, says_in_json_what_is_wrong_with_a_request) {
    const Serving serving;
    httplib::Client client = serving.client();
    const auto post = [&](const std::string& body, const char* type = "application/json") {
        return client.Post(serving.path() + "answer", body, type);
    };
    EXPECT_EQ(post("{")->status, 400);
    EXPECT_EQ(post("{")->body.find("{\"error\":{\"message\":\"request: line 1"), 0U) << post("{")->body;
    EXPECT_EQ(post(request_of("step", "mula-7b-a1b", 48), "text/plain")->status, 400);
    EXPECT_EQ(post(std::string(300 * 1024, ' '))->status, 413);
    EXPECT_EQ(client.Get(serving.path() + "../machines/aurora.json")->status, 404);
    EXPECT_EQ(client.Get(serving.path() + "answer")->status, 404);
    EXPECT_EQ(post(request_of("step", "mula-7b-a1b", 48))->status, 200);  // and goes on
}

TEST(Server, refuses_a_port_that_another_has) {
    const Serving serving;
    Session session(library_of_the_repository());
    const State start{{"aurora", "optimus", "mula-7b-a1b", "mula-7b-a1b"}, 48, {}};
    EXPECT_THROW(serve(
                     session, start, serving.served().port, [](const Served&) {}, [] { return true; }),
                 InputError);
}

}  // namespace
}  // namespace auspex::explore
